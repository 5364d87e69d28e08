#include "sql/wire/kept_answers.h"

#include "base/heap.h"
#include "base/timing.h"

#include <stdlib.h>
#include <string.h>

/* A statement that was checked may wait at the prompt. */
enum { MOST = 16, MOST_SECONDS = 10 };

struct kept_answers {
    struct {
        char *key;
        struct query_texts texts;
        int64_t since;
    } at[MOST];
    size_t count;
};

struct kept_answers *kept_answers_new(void)
{
    return heap_array(1, sizeof(struct kept_answers));
}

void kept_answers_forget(struct kept_answers *kept)
{
    for (size_t i = 0; i < kept->count; i++) {
        query_texts_release(&kept->at[i].texts);
        free(kept->at[i].key);
    }
    kept->count = 0;
}

void kept_answers_free(struct kept_answers *kept)
{
    kept_answers_forget(kept);
    free(kept);
}

static void share(const struct query_texts *from, struct query_texts *to)
{
    *to = *from;
    for (size_t k = 0; k < QUERY_MAX_TEXTS; k++)
        to->columns[k] = from->columns[k] ? column_ref(from->columns[k]) : NULL;
}

bool kept_answers_find(const struct kept_answers *kept, const char *key, struct query_texts *texts)
{
    const int64_t most = MOST_SECONDS * INT64_C(1000000000);
    for (size_t i = 0; i < kept->count; i++) {
        if (strcmp(kept->at[i].key, key) != 0)
            continue;
        if (now_ns() - kept->at[i].since > most)
            return false;
        share(&kept->at[i].texts, texts);
        return true;
    }
    return false;
}

void kept_answers_add(struct kept_answers *kept, const char *key, const struct query_texts *texts)
{
    size_t i = 0;
    while (i < kept->count && strcmp(kept->at[i].key, key) != 0)
        i++;
    if (i == MOST)
        return;
    if (i == kept->count)
        kept->at[kept->count++].key = heap_text(key);
    else
        query_texts_release(&kept->at[i].texts);
    kept->at[i].since = now_ns();
    share(texts, &kept->at[i].texts);
}
