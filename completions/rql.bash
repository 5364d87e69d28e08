# Completion of rql's options for bash.
_rql()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    case $before in
    --device) COMPREPLY=($(compgen -W 'auto cpu gpu host all' -- "$word")) ;;
    --format) COMPREPLY=($(compgen -W 'auto table tsv csv json jsonl markdown npy raw' -- "$word")) ;;
    --fusion) COMPREPLY=($(compgen -W 'off on' -- "$word")) ;;
    --learn) COMPREPLY=($(compgen -W 'on off now' -- "$word")) ;;
    -c | --command | --arg) COMPREPLY=() ;;
    *)
        if [[ $word == -* ]]; then
            COMPREPLY=($(compgen -W '--command --arg --device --format --header --timing --fusion --learn --stop --keep-going --no-init --quiet --verbose --help --version' -- "$word"))
        else
            COMPREPLY=($(compgen -f -- "$word"))
        fi
        ;;
    esac
}
complete -o filenames -F _rql rql
