# Bash completion of rql's options, read from `rql --help` of the program being completed.

_rql_options()
{
    "${1/#\~/$HOME}" --help 2>/dev/null | grep -E '^  (-[a-z], )?--[a-z]'
}

# Prints the choices of an option, "-" if it takes another argument, nothing if it takes none.
_rql_values()
{
    local line choices
    line=$(_rql_options "$1" | grep -E -- "(^| )$2(,| |\$)")
    [[ $line =~ --[a-z-]+\ [A-Z=]+\ +(.*) ]] || return
    choices=${BASH_REMATCH[1]}
    if [[ $choices == *\|* && $choices != *\ * ]]; then
        tr '|' '\n' <<<"$choices" | grep -v '^N$'
    else
        echo -
    fi
}

_rql()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} values
    COMPREPLY=()
    # Bash splits --device=cpu into three words.
    if [[ $word == = ]]; then
        word=
    elif [[ $before == = && $COMP_CWORD -gt 2 ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if [[ $before == -* ]]; then
        values=$(_rql_values "$1" "$before")
    fi
    if [[ $values == - ]]; then
        return
    elif [[ $values ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_rql_options "$1" | grep -oE -- '--[a-z-]+|-[a-z],' | tr -d ,)" -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}

complete -o filenames -F _rql rql
