; Inno Setup 6: an installer for Windows of the folder that PyInstaller made, for the person alone.
; Not tested: it was written without a Windows machine.
;
;   py -m pip install pyinstaller ".[columnar]"
;   py packaging\licences.py build\LICENCES.txt
;   pyinstaller --noconfirm packaging\tunescope.spec
;   iscc /DVersion=0.1.0 packaging\windows\tunescope.iss

#ifndef Version
  #error "Give the version: iscc /DVersion=0.1.0 packaging\windows\tunescope.iss"
#endif

[Setup]
AppId={{6E7A2C0B-8E0D-4C4E-9B7B-3B2C0F6E5A11}
AppName=Tunescope
AppVersion={#Version}
AppPublisher=Tunescope
DefaultDirName={autopf}\Tunescope
DefaultGroupName=Tunescope
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
ChangesAssociations=yes
LicenseFile=..\..\LICENSE
OutputDir=..\..\dist
OutputBaseFilename=tunescope-{#Version}-windows-x64
Compression=lzma2
SolidCompression=yes
UninstallDisplayIcon={app}\tunescope.exe

[Files]
Source: "..\..\dist\tunescope\*"; DestDir: "{app}"; Flags: recursesubdirs createallsubdirs ignoreversion

[Icons]
Name: "{group}\Tunescope"; Filename: "{app}\tunescope.exe"

[Registry]
; "Open with": the programs that have these files now keep them.
Root: HKA; Subkey: "Software\Classes\Tunescope.File"; ValueType: string; ValueData: "Table or tuned model"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\Tunescope.File\shell\open\command"; ValueType: string; ValueData: """{app}\tunescope.exe"" ""%1"""
Root: HKA; Subkey: "Software\Classes\.csv\OpenWithProgids"; ValueType: string; ValueName: "Tunescope.File"; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.tsv\OpenWithProgids"; ValueType: string; ValueName: "Tunescope.File"; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.xlsx\OpenWithProgids"; ValueType: string; ValueName: "Tunescope.File"; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.ods\OpenWithProgids"; ValueType: string; ValueName: "Tunescope.File"; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.parquet\OpenWithProgids"; ValueType: string; ValueName: "Tunescope.File"; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.feather\OpenWithProgids"; ValueType: string; ValueName: "Tunescope.File"; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.arff\OpenWithProgids"; ValueType: string; ValueName: "Tunescope.File"; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.libsvm\OpenWithProgids"; ValueType: string; ValueName: "Tunescope.File"; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.skops\OpenWithProgids"; ValueType: string; ValueName: "Tunescope.File"; Flags: uninsdeletevalue

[Run]
Filename: "{app}\tunescope.exe"; Description: "Start Tunescope"; Flags: nowait postinstall skipifsilent
