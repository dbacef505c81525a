@echo off
rem Written by `ccreload statusline install`; `ccreload statusline uninstall`
rem takes it away. Starts the newest ccreload there is, so that the status line
rem survives updates of the plugins. Where none runs, your own command does: a
rem program that does not start leaves what is to be read to the next one.
setlocal EnableDelayedExpansion
set "plugins=%~dp0..\plugins"
set "first=%~dp0first"
@FIND@
if not defined root goto alone
set "@ROOT@=%root:~0,-1%"
set "@DATA@=%plugins%\data\%data%"
"%root%bin\ccreload.exe" statusline 2>nul
if !errorlevel! equ 0 exit /b 0
:alone
if not defined CCRELOAD_BIN goto path
if not exist "%CCRELOAD_BIN%" goto path
"%CCRELOAD_BIN%" statusline 2>nul
if !errorlevel! equ 0 exit /b 0
:path
for %%r in (ccreload.exe) do set "installed=%%~$PATH:r"
if not defined installed goto beside
"%installed%" statusline 2>nul
if !errorlevel! equ 0 exit /b 0
:beside
if @RUNTIME@=="" goto first
if not exist @RUNTIME@ goto first
@RUNTIME@ statusline 2>nul
if !errorlevel! equ 0 exit /b 0
:first
if not exist "%first%" exit /b 0
rem Git Bash, where the host looks for it, or else PowerShell.
for %%g in (git.exe) do set "git=%%~dp$PATH:g"
set "bash=%CLAUDE_CODE_GIT_BASH_PATH%"
if defined bash if exist "%bash%" goto bash
set "bash=C:\Program Files\Git\bin\bash.exe"
if exist "%bash%" goto bash
set "bash=C:\Program Files (x86)\Git\bin\bash.exe"
if exist "%bash%" goto bash
set "bash=%git%..\bin\bash.exe"
if defined git if exist "%bash%" goto bash
for %%p in (pwsh.exe) do set "shell=%%~$PATH:p"
if not defined shell set "shell=powershell.exe"
rem PowerShell reads its input itself where a command line names it.
set "run=Invoke-Expression (Get-Content -Raw -Encoding UTF8 -LiteralPath $env:first)"
findstr /l /i /c:"$input" "%first%" >nul
if !errorlevel! equ 0 set "run=$input | & ([scriptblock]::Create((Get-Content -Raw -Encoding UTF8 -LiteralPath $env:first)))"
"%shell%" -NoProfile -NonInteractive -ExecutionPolicy Bypass -Command "%run%"
exit /b 0
:bash
"%bash%" "%first%"
exit /b 0
