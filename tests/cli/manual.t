# the man page and the completions of shells, made from the table of options; colours of messages.
$ tilewright man | grep -A 1 'fB.-.-html'
\fB\-\-html\fR\fI\fR
print a page with pictures, for a browser: `... \-\-html > page.html`
$ tilewright completion bash > complete.bash
$ bash -c '. ./complete.bash; COMP_WORDS=(tilewright explain --h); COMP_CWORD=2; _tilewright; echo "${COMPREPLY[@]}"'
--html --help
$ bash -c '. ./complete.bash; COMP_WORDS=(tilewright comp); COMP_CWORD=1; _tilewright; echo "${COMPREPLY[@]}"'
completion
$ tilewright completion zsh | grep -c -e '--html'
1
$ tilewright completion fish
error: for which shell? tilewright completion bash|zsh
[1]
$ tilewright list no_such.py --color=always 2>&1 | tr '\033' '#'
#[1;31merror#[0m: no_such.py cannot be read: No such file or directory
$ tilewright list no_such.py
error: no_such.py cannot be read: No such file or directory
[1]
$ tilewright list no_such.py --color=red
error: --color takes always, never or auto, not `red`
[1]
