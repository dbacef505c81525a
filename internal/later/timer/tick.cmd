@echo off
rem Written by `ccreload later timer install`; `ccreload later timer uninstall`
rem takes it away. @EVERY@
rem Looks after what is queued, with the newest ccreload there is. Where there is
rem none any more it does nothing.
chcp 65001 >nul
setlocal DisableDelayedExpansion
@ENV@
type nul >"%~dp0last"
set "plugins=@PLUGINS@"
setlocal EnableDelayedExpansion
@FIND@
if not defined root goto alone
set "@ROOT@=%root:~0,-1%"
set "@DATA@=%plugins%\data\%data%"
"%root%bin\ccreload.exe" later tick --background
exit /b
:alone
if defined CCRELOAD_BIN if exist "%CCRELOAD_BIN%" (
	"%CCRELOAD_BIN%" later tick --background
	exit /b
)
if exist @RUNTIME@ @RUNTIME@ later tick --background
