/* Keeps an image of what was synced, as a disk would hold it after the power was cut off.
 *
 * Loaded before the C library (LD_PRELOAD). Writes to files in POWER_DATA are remembered until the file is synced, and
 * only then made in POWER_IMAGE. A process that is killed leaves an image in which nothing stands that it had not
 * synced. Files that others read through shared memory (-shm) are rebuilt by SQLite and left out.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct change {
    struct change *next;
    char name[256];
    off_t at;
    ssize_t length; /* -1: the file was cut to `at` */
    char bytes[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct change *first, **last = &first;

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* The file's name in the data directory, or NULL. */
static const char *name_of(int fd, char *path, size_t size) {
    const char *data = getenv("POWER_DATA");
    char link[64];
    if (!data) return NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, size - 1);
    if (length < 0) return NULL;
    path[length] = 0;
    size_t start = strlen(data);
    if (strncmp(path, data, start) != 0 || path[start] != '/') return NULL;
    const char *name = path + start + 1;
    size_t end = strlen(name);
    if (strchr(name, '/') || end >= 256 || (end > 4 && strcmp(name + end - 4, "-shm") == 0)) return NULL;
    return name;
}

static void remember(const char *name, off_t at, const void *bytes, ssize_t length) {
    struct change *change = malloc(sizeof *change + (length > 0 ? (size_t)length : 0));
    if (!change) abort();
    change->next = NULL;
    strcpy(change->name, name);
    change->at = at;
    change->length = length;
    if (length > 0) memcpy(change->bytes, bytes, (size_t)length);
    pthread_mutex_lock(&lock);
    *last = change;
    last = &change->next;
    pthread_mutex_unlock(&lock);
}

static ssize_t real_pwrite(int fd, const void *bytes, size_t length, off_t at) {
    REAL(pwrite);
    return real(fd, bytes, length, at);
}

static int real_ftruncate(int fd, off_t length) {
    REAL(ftruncate);
    return real(fd, length);
}

/* The file is on the disk now: makes its changes in the image. */
static void synced(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("POWER_IMAGE"), name);
    pthread_mutex_lock(&lock);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) abort();
    struct change **here = &first;
    while (*here) {
        struct change *change = *here;
        if (strcmp(change->name, name) != 0) {
            here = &change->next;
            continue;
        }
        if (change->length < 0) {
            if (real_ftruncate(fd, change->at) != 0) abort();
        } else if (real_pwrite(fd, change->bytes, (size_t)change->length, change->at) != change->length) {
            abort();
        }
        *here = change->next;
        free(change);
    }
    last = &first;
    while (*last) last = &(*last)->next;
    close(fd);
    pthread_mutex_unlock(&lock);
}

ssize_t write(int fd, const void *bytes, size_t length) {
    REAL(write);
    char path[4096];
    const char *name = name_of(fd, path, sizeof path);
    off_t at = name ? lseek(fd, 0, SEEK_CUR) : 0;
    ssize_t written = real(fd, bytes, length);
    if (name && written > 0) remember(name, at, bytes, written);
    return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
    char path[4096];
    const char *name = name_of(fd, path, sizeof path);
    ssize_t written = real_pwrite(fd, bytes, length, at);
    if (name && written > 0) remember(name, at, bytes, written);
    return written;
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) { return pwrite(fd, bytes, length, at); }

int ftruncate(int fd, off_t length) {
    char path[4096];
    const char *name = name_of(fd, path, sizeof path);
    int cut = real_ftruncate(fd, length);
    if (name && cut == 0) remember(name, length, NULL, -1);
    return cut;
}

int ftruncate64(int fd, off64_t length) { return ftruncate(fd, length); }

int fsync(int fd) {
    REAL(fsync);
    char path[4096];
    const char *name = name_of(fd, path, sizeof path);
    int done = real(fd);
    if (name && done == 0) synced(name);
    return done;
}

int fdatasync(int fd) {
    REAL(fdatasync);
    char path[4096];
    const char *name = name_of(fd, path, sizeof path);
    int done = real(fd);
    if (name && done == 0) synced(name);
    return done;
}

int unlink(const char *path) {
    REAL(unlink);
    const char *data = getenv("POWER_DATA");
    int gone = real(path);
    size_t start = data ? strlen(data) : 0;
    if (gone == 0 && data && strncmp(path, data, start) == 0 && path[start] == '/') {
        char image[4096];
        snprintf(image, sizeof image, "%s/%s", getenv("POWER_IMAGE"), path + start + 1);
        real(image);
    }
    return gone;
}
