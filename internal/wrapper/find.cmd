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
			if not "@PLUGIN@"=="*" if not "@PLUGIN@"=="%%n" set "number=-1"
			if !number! gtr !newest! (
				set "newest=!number!"
				set "root=!dir!"
				set "data=%%n-%%m"
			)
		)
	)
)
