/* The lower limit of the benchmark: the whole job in one plain pass of C, without any of the care a product needs.

   cc -O3 -march=native -o plain_pass plain_pass.c -lm
   plain_pass JUDGMENTS RANKINGS     prints "metric<TAB>query<TAB>value" for the 7 metrics of the benchmark

   It trusts its input: little-endian machine, plain text, six words a line, the lines of a query together, no document
   twice, grades below 256. It checks nothing and explains nothing. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MAP_POPULATE
#define MAP_POPULATE 0
#endif

enum { GRADES = 256, UNJUDGED = -1, NEGATIVE = -2, NDCG_CUTOFF = 10 };

typedef struct { const uint8_t *start; long length; } Word;
typedef struct { Word id; long relevant, not_relevant; int top_grade, with_grade[GRADES]; } Query;
typedef struct { uint64_t key; Word document; int grade; long query; } Judgment;
typedef struct { double score; Word document; int grade; } Retrieved;
typedef struct { Retrieved *at; long count, room, judged; int out_of_order, tied; } Ranking;

static Judgment *judgments;   /* hash table: (query, document) -> grade */
static Query *queries;
static long *query_table;     /* hash table: query id -> position in queries, or -1 */
static long query_count;
static uint64_t slots;        /* size of both tables minus 1 */
static uint8_t *key_filter;   /* one byte a group of keys: 0 = no such pair is judged */
static int key_filter_shift;
static double discount[NDCG_CUTOFF + 1];

/* ---- words, hashes, numbers ---- */

static inline uint64_t eight_bytes(const uint8_t *at) { uint64_t bytes; memcpy(&bytes, at, 8); return bytes; }

static inline uint64_t mixed(uint64_t state, uint64_t bytes) {
    state = (state ^ bytes) * 0xD6E8FEB86659FD93ull;
    return state ^ state >> 32;
}

static inline uint64_t hash(Word word, uint64_t seed) {
    const uint8_t *at = word.start;
    long left = word.length;
    uint64_t state = seed ^ 0x9E3779B97F4A7C15ull * (uint64_t)left;
    for (; left >= 8; at += 8, left -= 8) state = mixed(state, eight_bytes(at));
    if (left > 0) state = mixed(state, eight_bytes(at) & ~0ull >> (64 - 8 * left));
    return state * 0xA0761D6478BD642Full;
}

static inline uint64_t seed_of(long query) { return (uint64_t)(query + 1) * 0xC2B2AE3D27D4EB4Full; }

static inline int same(Word a, Word b) { return a.length == b.length && !memcmp(a.start, b.start, a.length); }

/* The next word of the line; the text ends with a zero byte, which is a separator too but never skipped. */
static inline Word next_word(const uint8_t **text) {
    const uint8_t *at = *text;
    while (*at == ' ' || *at == '\t') at++;
    Word word = {at, 0};
    while (*at > ' ') at++;
    word.length = at - word.start;
    *text = at;
    return word;
}

static inline const uint8_t *next_line(const uint8_t *at) {
    while (*at && *at != '\n') at++;
    return at + (*at == '\n');
}

/* Exact up to 2^53 and 22 decimals; anything else is left to strtod. */
static inline double number(Word word) {
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const uint8_t *at = word.start, *end = at + word.length;
    int negative = *at == '-', decimals = -1;
    uint64_t digits = 0;
    if (word.length > 18) return strtod((const char *)word.start, NULL);
    for (at += negative; at < end; at++) {
        unsigned digit = *at - '0';
        if (digit < 10) { digits = digits * 10 + digit; decimals += decimals >= 0; }
        else if (*at == '.' && decimals < 0) decimals = 0;
        else return strtod((const char *)word.start, NULL);
    }
    if (digits >= 1ull << 53) return strtod((const char *)word.start, NULL);
    double value = decimals > 0 ? (double)digits / power[decimals] : (double)digits;
    return negative ? -value : value;
}

/* ---- judgments ---- */

static long *query_slot(Word id) {
    uint64_t at = hash(id, 1) >> 20;
    while (query_table[at & slots] >= 0 && !same(queries[query_table[at & slots]].id, id)) at++;
    return &query_table[at & slots];
}

static long add_query(Word id) {
    long *slot = query_slot(id);
    if (*slot < 0) { *slot = query_count; queries[query_count++].id = id; }
    return *slot;
}

static void add_judgment(long query, Word document, int grade) {
    uint64_t key = hash(document, seed_of(query)), at = key >> 20;
    while (judgments[at & slots].document.start) at++;
    judgments[at & slots] = (Judgment){key, document, grade < 0 ? NEGATIVE : grade, query};
    key_filter[key >> key_filter_shift] = 1;
    Query *counts = &queries[query];
    counts->relevant += grade >= 1;
    counts->not_relevant += grade == 0;
    if (grade >= 0) counts->with_grade[grade]++;
    if (grade > counts->top_grade) counts->top_grade = grade;
}

static void make_tables(const uint8_t *text) {
    uint64_t lines = 1, size = 64;
    int bits = 17;
    for (const uint8_t *at = text; *at; at = next_line(at)) lines++;
    while (size < 2 * lines) size *= 2;
    while (1ull << bits < 32 * lines && bits < 24) bits++;
    slots = size - 1;
    key_filter_shift = 64 - bits;
    key_filter = calloc(1ull << bits, 1);
    judgments = calloc(size, sizeof *judgments);
    queries = calloc(lines, sizeof *queries);
    query_table = malloc(size * sizeof *query_table);
    memset(query_table, 255, size * sizeof *query_table);
}

static void read_judgments(const uint8_t *text) {
    make_tables(text);
    Word last = {NULL, -1};
    for (long query = -1; *text; text = next_line(text)) {
        Word id = next_word(&text);
        next_word(&text);
        Word document = next_word(&text), grade = next_word(&text);
        if (!same(id, last)) query = add_query(last = id);
        add_judgment(query, document, atoi((const char *)grade.start));
    }
}

static inline int grade_of(long query, Word document) {
    uint64_t key = hash(document, seed_of(query)), at = key >> 20;
    if (!key_filter[key >> key_filter_shift]) return UNJUDGED;
    for (; judgments[at & slots].document.start; at++) {
        const Judgment *found = &judgments[at & slots];
        if (found->key == key && found->query == query && same(found->document, document)) return found->grade;
    }
    return UNJUDGED;
}

/* ---- one query ---- */

/* Score descending, ties by document id descending. */
static int by_rank(const void *left, const void *right) {
    const Retrieved *a = left, *b = right;
    if (a->score != b->score) return a->score > b->score ? -1 : 1;
    long shorter = a->document.length < b->document.length ? a->document.length : b->document.length;
    int order = memcmp(b->document.start, a->document.start, shorter);
    return order ? order : (int)(b->document.length - a->document.length);
}

static void break_ties(Ranking *ranking) {
    Retrieved *at = ranking->at;
    for (long first = 0, next; first < ranking->count; first = next) {
        int judged = at[first].grade != UNJUDGED;
        for (next = first + 1; next < ranking->count && at[next].score == at[first].score; next++)
            judged |= at[next].grade != UNJUDGED;
        if (judged && next - first > 1) qsort(at + first, next - first, sizeof *at, by_rank);
    }
}

static double ideal_dcg(const Query *query) {
    double sum = 0;
    int rank = 0;
    for (int grade = query->top_grade; grade > 0; grade--)
        for (int i = 0; i < query->with_grade[grade] && rank < NDCG_CUTOFF; i++) sum += grade * discount[++rank];
    return sum;
}

static void print_value(const char *metric, const Query *query, double value) {
    printf("%s\t%.*s\t%.10f\n", metric, (int)query->id.length, query->id.start, value);
}

static void print_metrics(const Query *query, const Ranking *ranking) {
    double dcg = 0, precisions = 0, reciprocal_rank = 0, preferences = 0, ideal = ideal_dcg(query);
    double relevant = query->relevant ? query->relevant : 1;
    double most = query->not_relevant < query->relevant ? query->not_relevant : query->relevant;
    long found = 0, in_10 = 0, in_100 = 0, in_1000 = 0, refuted = 0;
    for (long i = 0, left = ranking->judged; left; i++) {
        int grade = ranking->at[i].grade;
        long rank = i + 1;
        left -= grade != UNJUDGED;
        refuted += grade == 0;
        if (grade < 1) continue;
        if (++found == 1) reciprocal_rank = 1.0 / rank;
        precisions += (double)found / rank;
        preferences += refuted ? 1 - (refuted < query->relevant ? refuted : query->relevant) / most : 1;
        in_10 += rank <= 10;
        in_100 += rank <= 100;
        in_1000 += rank <= 1000;
        if (rank <= NDCG_CUTOFF) dcg += grade * discount[rank];
    }
    print_value("nDCG@10", query, ideal > 0 ? dcg / ideal : 0);
    print_value("AP", query, precisions / relevant);
    print_value("RR", query, reciprocal_rank);
    print_value("P@10", query, in_10 / 10.0);
    print_value("R@100", query, in_100 / relevant);
    print_value("R@1000", query, in_1000 / relevant);
    print_value("Bpref", query, preferences / relevant);
}

static void finish(long query, Ranking *ranking) {
    if (query >= 0) {
        if (ranking->judged && ranking->out_of_order) qsort(ranking->at, ranking->count, sizeof *ranking->at, by_rank);
        else if (ranking->judged && ranking->tied) break_ties(ranking);
        print_metrics(&queries[query], ranking);
    }
    ranking->count = ranking->judged = ranking->out_of_order = ranking->tied = 0;
}

/* ---- the pass ---- */

static inline void append(Ranking *ranking, double score, Word document, int grade) {
    if (ranking->count == ranking->room)
        ranking->at = realloc(ranking->at, (ranking->room = 2 * ranking->room + 4096) * sizeof *ranking->at);
    Retrieved *now = &ranking->at[ranking->count];
    *now = (Retrieved){score, document, grade};
    ranking->judged += grade != UNJUDGED;
    if (ranking->count++) {
        ranking->out_of_order |= score > now[-1].score;
        ranking->tied |= score == now[-1].score;
    }
}

static void evaluate(const uint8_t *text) {
    Ranking ranking = {0};
    Word last = {NULL, -1};
    long query = -1;
    for (; *text; text = next_line(text)) {
        Word id = next_word(&text);
        next_word(&text);
        Word document = next_word(&text);
        next_word(&text);
        double score = number(next_word(&text));
        if (!same(id, last)) {
            finish(query, &ranking);
            query = *query_slot(last = id);
        }
        append(&ranking, score, document, query < 0 ? UNJUDGED : grade_of(query, document));
    }
    finish(query, &ranking);
}

/* The file in memory without a copy, followed by a page of zeros, so that reading a few bytes too far is harmless. */
static const uint8_t *mapped(const char *path) {
    struct stat status;
    int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &status)) { perror(path); exit(1); }
    long page = sysconf(_SC_PAGESIZE), size = status.st_size, room = (size / page + 2) * page;
    uint8_t *text = mmap(NULL, room, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == MAP_FAILED) { perror(path); exit(1); }
    if (size && mmap(text, size, PROT_READ, MAP_SHARED | MAP_FIXED | MAP_POPULATE, file, 0) == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    close(file);
    return text;
}

int main(int count, char **arguments) {
    if (count != 3) { fprintf(stderr, "usage: plain_pass JUDGMENTS RANKINGS\n"); return 2; }
    static char buffer[1 << 16];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    for (int rank = 1; rank <= NDCG_CUTOFF; rank++) discount[rank] = 1 / log2(rank + 1);
    read_judgments(mapped(arguments[1]));
    evaluate(mapped(arguments[2]));
    return 0;
}
