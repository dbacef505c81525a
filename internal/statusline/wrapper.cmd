@echo off
rem Written by `ccreload statusline install`; `ccreload statusline uninstall`
rem takes it away. Starts the newest ccreload there is, so that the status line
rem survives updates of the plugins, and stays silent when there is none.
setlocal EnableDelayedExpansion
set "plugins=%~dp0..\plugins"
set "root="
set "newest=-1"
for /d %%m in ("%plugins%\cache\*") do for /d %%p in ("%%m\*") do for /d %%v in ("%%p\*") do (
	if exist "%%v\ccreload.json" if exist "%%v\bin\ccreload.exe" if not exist "%%v\.orphaned_at" (
		set "number=0"
		for /f "tokens=1-3 delims=." %%a in ("%%~nxv") do set /a "number=%%a*1000000+%%b*1000+%%c" 2>nul
		if !number! gtr !newest! (
			set "newest=!number!"
			set "root=%%v"
			set "data=%plugins%\data\%%~nxp-%%~nxm"
		)
	)
)
if defined root (
	set "CLAUDE_PLUGIN_ROOT=!root!"
	set "CLAUDE_PLUGIN_DATA=!data!"
	"!root!\bin\ccreload.exe" statusline 2>nul && exit /b 0
)
if defined CCRELOAD_BIN if exist "%CCRELOAD_BIN%" (
	"%CCRELOAD_BIN%" statusline
	exit /b 0
)
if exist @RUNTIME@ @RUNTIME@ statusline
exit /b 0
