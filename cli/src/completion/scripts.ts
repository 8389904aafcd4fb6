/** The shells with completion. */
export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** The command that installs a shell's completion. */
export const installation: Readonly<Record<Shell, string>> = {
  bash: 'suzumio completion bash >> ~/.bashrc',
  zsh: 'suzumio completion zsh > "${fpath[1]}/_suzumio"',
  fish: 'suzumio completion fish > ~/.config/fish/completions/suzumio.fish',
};

/**
 * The completion script of each shell. It asks the command itself, so that it is always up to date: each line of the
 * answer is a word and, after a tab, its meaning; `:files` requests file names instead.
 */
export const scripts: Readonly<Record<Shell, string>> = {
  bash: `# bash completion for suzumio
_suzumio() {
  local IFS=$'\\n' word prefix line
  local -a words=()
  # Bash takes "editor:1" apart; here it is one word again.
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ \${#words[@]} -gt 0 && ( $word == :* || \${words[\${#words[@]}-1]} == *: ) ]]; then
      words[\${#words[@]}-1]+=$word
    else
      words+=("$word")
    fi
  done
  word=\${words[\${#words[@]}-1]}
  prefix=
  [[ $word == *:* && $COMP_WORDBREAKS == *:* ]] && prefix=\${word%"\${word##*:}"}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -f -- "$word"))
    else
      line=\${line%%$'\\t'*}
      # A word that a shell would not take as it is.
      [[ $line == '#'* || $line == *' '* ]] && printf -v line %q "$line"
      COMPREPLY+=("\${line#"$prefix"}")
    fi
  done < <(suzumio __complete -- "\${words[@]}" 2>/dev/null)
}
complete -F _suzumio suzumio
`,
  zsh: `#compdef suzumio
# zsh completion for suzumio
_suzumio() {
  local line word
  local -a found
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      _files
      return
    fi
    word=\${line%%$'\\t'*}
    if [[ $line == *$'\\t'* ]]; then
      found+=("\${word//:/\\\\:}:\${line#*$'\\t'}")
    else
      found+=("\${word//:/\\\\:}")
    fi
  done < <(suzumio __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#found} )) && _describe suzumio found
}
if [[ $funcstack[1] == _suzumio ]]; then _suzumio "$@"; else compdef _suzumio suzumio; fi
`,
  fish: `# fish completion for suzumio
function __suzumio_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (suzumio __complete -- $words[2..-1] 2>/dev/null)
    if test "$found" = ":files"
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $found
    end
end
complete -c suzumio -f -a '(__suzumio_complete)'
`,
};
