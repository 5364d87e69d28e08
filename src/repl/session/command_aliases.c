#include "repl/session/commands.h"

#include <string.h>

/* Only where the arguments mean the same, too; others are corrected by repl/rewrite. */
static const struct {
    const char *alias, *command;
} aliases[] = {
    {"help", ".help"},       {"?", ".help"},        {":help", ".help"},      {":h", ".help"},
    {"\\h", ".help"},        {"\\?", ".help"},      {".h", ".help"},         {".man", ".help"},
    {"quit", ".quit"},       {"exit", ".quit"},     {".q", ".quit"},         {".exit", ".quit"},
    {":q", ".quit"},         {":q!", ".quit"},      {":wq", ".quit"},        {":x", ".quit"},
    {":quit", ".quit"},      {":exit", ".quit"},    {"\\q", ".quit"},        {"\\quit", ".quit"},
    {".mode", ".format"},    {".timer", ".timing"}, {"\\timing", ".timing"}, {".time", ".timing"},
    {".pwd", ".cd"},         {"\\cd", ".cd"},       {":cd", ".cd"},          {".ls", ".tables"},
    {"\\d", ".tables"},      {"\\dt", ".tables"},   {"\\a", ".tables"},      {".databases", ".tables"},
    {":ls", ".tables"},      {".names", ".tables"}, {"%who", ".tables"},     {"%whos", ".tables"},
    {"\\i", ".read"},        {".source", ".read"},  {".run", ".read"},       {"%run", ".read"},
    {"\\e", ".edit"},        {":e", ".edit"},       {"%edit", ".edit"},      {"\\o", ".output"},
    {".headers", ".header"}, {"%cd", ".cd"},        {"%pwd", ".cd"},         {".settings", ".set"},
    {".show", ".set"},       {":set", ".set"},      {"\\set", ".set"},       {"%quit", ".quit"},
};

const char *command_of_alias(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (strlen(aliases[i].alias) == length && memcmp(aliases[i].alias, word, length) == 0)
            return aliases[i].command;
    }
    return NULL;
}
