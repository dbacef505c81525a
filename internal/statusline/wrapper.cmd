@echo off
rem Written by `ccreload statusline install`; `ccreload statusline uninstall`
rem takes it away. Starts the newest ccreload there is, so that the status line
rem survives updates of the plugins, and stays silent when there is none.
setlocal EnableDelayedExpansion
set "plugins=%~dp0..\plugins"
@FIND@
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
