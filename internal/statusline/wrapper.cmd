@echo off
rem Written by `ccreload statusline install`; `ccreload statusline uninstall`
rem takes it away. Starts the newest ccreload there is, so that the status line
rem survives updates of the plugins, and stays silent when there is none.
setlocal EnableDelayedExpansion
set "plugins=%~dp0..\plugins"
set "root="
set "newest=-1"
for /f "delims=" %%f in ('dir /b /s /a-d "%plugins%\cache\ccreload.json" 2^>nul') do (
	set "dir=%%~dpf"
	set "tail=!dir:*\plugins\cache\=!"
	if exist "!dir!bin\ccreload.exe" if not exist "!dir!.orphaned_at" (
		rem The tail is MARKETPLACE\PLUGIN\VERSION\.
		for /f "tokens=1-3 delims=\" %%m in ("!tail!") do (
			set "number=0"
			for /f "tokens=1-3 delims=." %%a in ("%%o") do set /a "number=%%a*1000000+%%b*1000+%%c" 2>nul
			if !number! gtr !newest! (
				set "newest=!number!"
				set "root=!dir!"
				set "data=%%n-%%m"
			)
		)
	)
)
if not defined root goto alone
set "@ROOT@=%root:~0,-1%"
set "@DATA@=%plugins%\data\%data%"
"%root%bin\ccreload.exe" statusline 2>nul
if not errorlevel 1 exit /b 0
:alone
if not defined CCRELOAD_BIN goto beside
if not exist "%CCRELOAD_BIN%" goto beside
"%CCRELOAD_BIN%" statusline 2>nul
if not errorlevel 1 exit /b 0
:beside
if exist @RUNTIME@ @RUNTIME@ statusline
exit /b 0
