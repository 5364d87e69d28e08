autocmd BufNewFile,BufRead *.rql setfiletype rql
