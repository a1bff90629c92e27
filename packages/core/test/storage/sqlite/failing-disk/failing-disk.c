/*
 * Preloaded into a process, makes its disk fail as the file DISK_FAULT says, which may change at any time:
 *
 *   <flush, write or all> <how the file's path ends> <calls that still work> <calls that fail then> <a number>
 *
 * The calls fail with EIO, and do nothing. They are counted anew when the text changes. With "all", flushes are counted,
 * and while they fail writes do as well.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#define SIZE 128

static const char *fault;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("DISK_FAULT");
  int file = path ? open(path, O_RDONLY) : -1;
  void *text = file < 0 ? MAP_FAILED : mmap(NULL, SIZE, PROT_READ, MAP_SHARED, file, 0);
  if (text != MAP_FAILED) fault = text;
  if (file >= 0) close(file);
}

static int has_end(int file, const char *end) {
  char link[32], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path);
  ssize_t wanted = (ssize_t)strlen(end);
  return length >= wanted && memcmp(path + length - wanted, end, (size_t)wanted) == 0;
}

static int fails(const char *call, int file) {
  static char latest[SIZE];
  static long calls;
  char text[SIZE], meant[16], end[64];
  long working, failing;
  if (!fault || fault[0] == '\0' || fault[0] == ' ') return 0;
  memcpy(text, fault, SIZE);
  text[SIZE - 1] = '\0';
  if (sscanf(text, "%15s %63s %ld %ld", meant, end, &working, &failing) != 4) return 0;
  int is_all = strcmp(meant, "all") == 0;
  if ((!is_all && strcmp(meant, call) != 0) || !has_end(file, end)) return 0;
  if (strcmp(latest, text) != 0) {
    strcpy(latest, text);
    calls = 0;
  }
  if (!is_all || strcmp(call, "flush") == 0) calls++;
  if (calls <= working || calls > working + failing) return 0;
  errno = EIO;
  return 1;
}

#define REAL(name, ...) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))(__VA_ARGS__)

int fsync(int file) { return fails("flush", file) ? -1 : REAL(fsync, file); }

int fdatasync(int file) { return fails("flush", file) ? -1 : REAL(fdatasync, file); }

ssize_t write(int file, const void *data, size_t size) {
  return fails("write", file) ? -1 : REAL(write, file, data, size);
}

ssize_t pwrite(int file, const void *data, size_t size, off_t at) {
  return fails("write", file) ? -1 : REAL(pwrite, file, data, size, at);
}

ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) {
  return fails("write", file) ? -1 : REAL(pwrite64, file, data, size, at);
}
