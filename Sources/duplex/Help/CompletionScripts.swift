import AudioFiles

/// Scripts that complete the tool's words in shells. They call the tool (`--complete`), so that the
/// options are those of the installed version and the devices those that are plugged in.
enum CompletionScripts {
  /// Returns the script for `shell`, or for the user's shell if it is nil. Throws if there is none.
  static func script(for shell: String?) throws(ToolFailure) -> String {
    let loginShell = FileName.variable("SHELL")?.split(separator: "/").last.map(String.init)
    switch shell ?? loginShell {
    case "bash": return bash
    case "zsh": return zsh
    case "fish": return fish
    default:
      throw ToolFailure.usage(
        "There is no completion script for \(shell ?? loginShell ?? "an unknown shell").",
        hint: "Name one of bash, zsh and fish.")
    }
  }

  private static let bash = #"""
    # bash completion for duplex

    _duplex() {
      # bash takes words apart at characters of COMP_WORDBREAKS, such as = and :. Here they are whole.
      local line=${COMP_LINE:0:COMP_POINT} part index
      local -a words=()
      for ((index = 0; index <= COMP_CWORD; index++)); do
        part=${COMP_WORDS[index]}
        if ((index == 0)) || [[ $line == [[:blank:]]* || -z $line ]]; then words+=(""); fi
        line=${line#"${line%%[![:blank:]]*}"}
        ((index < COMP_CWORD)) || part=$line
        words[${#words[@]} - 1]+=$part
        line=${line#"$part"}
      done
      local current=${words[${#words[@]} - 1]} kind candidate start
      # Of a word that holds = or :, only what is behind them is replaced.
      start=${current%"${current##*[:=]}"}
      [[ $COMP_WORDBREAKS == *:* && $COMP_WORDBREAKS == *=* ]] || start=
      COMPREPLY=()
      {
        IFS= read -r kind || return
        while IFS=$'\t' read -r candidate _; do COMPREPLY+=("${candidate#"$start"}"); done
      } < <(eval "${words[0]}" '--complete "${words[@]:1}"' 2>/dev/null)
      case $kind in
        files)
          # Without candidates readline completes names of files itself, quotes and all.
          ((${#COMPREPLY[@]} == 0)) || {
            compopt -o filenames
            while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done \
              < <(compgen -f -- "${current#"$start"}")
          } 2>/dev/null
          ;;
        *)
          compopt +o default 2>/dev/null
          # What goes on, such as --name= and sim:, has no blank behind it.
          [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *[:=,] ]] || compopt -o nospace 2>/dev/null
          ;;
      esac
    }

    complete -o default -F _duplex duplex
    """#

  private static let zsh = #"""
    #compdef duplex

    _duplex() {
      local tab=$'\t' line
      local -a answer described
      answer=("${(@f)$(${~${(Q)words[1]}} --complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
      for line in "${(@)answer[2,-1]}"; do
        [[ -n $line ]] || continue
        # A value without a meaning is offered without the dash that would announce one.
        described+=("${${line%%$tab*}//:/\\:}${${line#*$tab}:+:${line#*$tab}}")
      done
      local found=1
      if (( $#described )); then _describe -V 'duplex' described && found=0; fi
      if [[ $answer[1] == files ]]; then
        compset -P '--[a-z-]#='
        _files && found=0
      fi
      return found
    }

    if [[ $funcstack[1] == _duplex ]]; then _duplex "$@"; else compdef _duplex duplex; fi
    """#

  private static let fish = #"""
    # fish completion for duplex

    function __duplex_complete
      set -l words (commandline -opc)
      set -l current (commandline -ct)
      set -l answer ($words[1] --complete $words[2..-1] $current 2>/dev/null)
      test (count $answer) -gt 1; and printf '%s\n' $answer[2..-1]
      test "$answer[1]" = files; or return 0
      # A file may stand behind --name=.
      set -l start (string match -r -- '^--[a-z-]+=' $current); or set start ""
      set -l rest (string replace -r -- '^--[a-z-]+=' '' $current)
      for path in (__fish_complete_path $rest)
        printf '%s\n' $start$path
      end
    end

    complete -c duplex -e
    complete -c duplex -f -a '(__duplex_complete)'
    """#
}
