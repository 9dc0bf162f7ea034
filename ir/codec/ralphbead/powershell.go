package ralphbead

import "github.com/ralph-compiler/ralph/internal/lazyregexp"

// PowerShell reports whether a command is written for PowerShell, so that a
// POSIX shell cannot run it. A command that starts PowerShell itself
// (pwsh -File check.ps1) is one that any shell can run.
func PowerShell(command string) bool {
	return !startsShell.MatchString(command) && powerShell.MatchString(command)
}

var (
	startsShell = lazyregexp.New(`^\s*(\S*[/\\])?(pwsh|powershell)(\.exe)?\s`)
	powerShell  = lazyregexp.New(`(?i:\$(PSVersionTable|PSScriptRoot|LASTEXITCODE|ErrorActionPreference|env:\w))` +
		`|(^|[(|;{=\n])\s*(Add|Clear|Compare|Convert|ConvertFrom|ConvertTo|Copy|Export|ForEach|Format|Get|Group|Import|Invoke|Join|Measure|Move|New|Out|Read|Remove|Rename|Resolve|Select|Set|Sort|Split|Start|Stop|Test|Wait|Where|Write)-[A-Z][A-Za-z]+\b` +
		`|(^|[;&|]\s*)&?\s*['"]?\.\\` +
		`|(?i:\bif\s*\(.*\)\s*\{)`)
)
