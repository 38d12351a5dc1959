/* SPDX-License-Identifier: Apache-2.0
 *
 * shm.cpp: the files in /dev/shm that Fast DDS makes for a participant.
 *
 * It chooses their names, which do not tell whose they are. Each segment and each port has a lock, a file beside it
 * that is open as long as its maker lives: so what this process has made is read from its descriptors. The list is a
 * file
 * `<run name>.<process id>.shared`, one name a line, as driver.h has it.
 */
#include "internal.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace {

const char directory[] = "/dev/shm/";

bool ends_with(const std::string &text, const char *end) {
  const size_t size = strlen(end);
  return text.size() > size && text.compare(text.size() - size, size, end) == 0;
}

/* Calls `found` with each name in a folder. */
template <class Found> void each_name(const char *path, Found found) {
  DIR *dir = opendir(path);
  if (dir == nullptr)
    return;
  while (const dirent *entry = readdir(dir))
    found(std::string(entry->d_name));
  closedir(dir);
}

void add(std::vector<std::string> &names, const std::string &name) {
  if (std::find(names.begin(), names.end(), name) == names.end())
    names.push_back(name);
}

/* What goes with a lock: itself, the segment or port that it guards, and the mutex of a port. */
void add_guarded(std::vector<std::string> &names, const std::string &lock) {
  if (!ends_with(lock, "_el") && !ends_with(lock, "_sl"))
    return;
  const std::string guarded = lock.substr(0, lock.size() - 3);
  add(names, lock);
  add(names, guarded);
  if (guarded.find("_port") != std::string::npos)
    add(names, "sem." + guarded + "_mutex");
}

/* Whether somebody else has the lock of a segment or a port. */
bool others_hold(const std::string &guarded) {
  for (const char *end : {"_el", "_sl"}) {
    const int fd = open((directory + guarded + end).c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
      continue;
    const bool held = flock(fd, LOCK_EX | LOCK_NB) != 0;
    close(fd);
    if (held)
      return true;
  }
  return false;
}

/* What goes with a segment or port, if nobody else has it. */
void remove_guarded(const std::string &guarded) {
  if (others_hold(guarded))
    return;
  for (const std::string &name : {guarded, "sem." + guarded + "_mutex", guarded + "_el", guarded + "_sl"})
    unlink((directory + name).c_str());
}

/* RTPS derives the ports of a domain so, the first being that of all its participants. */
const uint32_t port_base = 7400, port_gain = 250;

} // namespace

void SharedFiles::begin(const std::string &run_name) {
  path_ = run_name.empty() ? "" : directory + run_name + "." + std::to_string(getpid()) + ".shared";
}

void SharedFiles::list(const std::string &guid) {
  const size_t before = names_.size();
  each_name("/proc/self/fd", [this](const std::string &fd) {
    char target[256];
    const ssize_t n = readlink(("/proc/self/fd/" + fd).c_str(), target, sizeof target - 1);
    if (n <= 0)
      return;
    target[n] = '\0';
    if (strncmp(target, directory, sizeof directory - 1) == 0 && strncmp(target + sizeof directory - 1, "fast", 4) == 0)
      add_guarded(names_, target + sizeof directory - 1);
  });
  /* Segments of data sharing have no lock, but our name in theirs. */
  each_name(directory, [this, &guid](const std::string &name) {
    if (!guid.empty() && name.compare(0, 4, "fast") == 0 && name.find(guid) != std::string::npos)
      add(names_, name);
  });
  if (path_.empty() || names_.empty() || names_.size() == before)
    return;
  const std::string fresh = path_ + ".new";
  if (FILE *file = fopen(fresh.c_str(), "we")) {
    for (const std::string &name : names_)
      fprintf(file, "%s\n", name.c_str());
    if (fclose(file) == 0)
      rename(fresh.c_str(), path_.c_str());
  }
}

/* The library leaves ports that others had opened to write to, and these keep them open: a port that was removed
 * meanwhile would not be the one that the next participant reads from. So the last to go removes what is left of the
 * domain's. */
void SharedFiles::end(uint32_t domain) {
  const uint32_t first = port_base + port_gain * domain;
  for (const std::string &name : names_) {
    const size_t port = name.find("_port");
    const bool guarded = !ends_with(name, "_el") && !ends_with(name, "_sl") && name.compare(0, 4, "sem.") != 0;
    if (port == std::string::npos) {
      if (guarded && access((directory + name).c_str(), F_OK) == 0)
        remove_guarded(name);
    } else if (name.compare(port, std::string::npos, "_port" + std::to_string(first)) == 0 && !others_hold(name)) {
      for (uint32_t number = first; number < first + port_gain; number++)
        remove_guarded(name.substr(0, port) + "_port" + std::to_string(number));
    }
  }
  if (!path_.empty() && !names_.empty())
    unlink(path_.c_str());
  names_.clear();
}
