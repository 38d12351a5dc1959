/* SPDX-License-Identifier: Apache-2.0
 *
 * shm.cpp: the files in /dev/shm that Fast DDS creates for a participant.
 *
 * Their names do not show their owner. Each segment, and each port that is read, has a lock: a separate file that
 * its creator holds while it is alive, which shows what is in use. The list
 * `<run name>.<process id>.<number>.shared` is written before any of these files exists, in the format of driver.h.
 */
#include "internal.hpp"

#include <atomic>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace {

const char directory[] = "/dev/shm/";

/* Prefix of the files of data sharing, before the GUID. */
const char data_sharing[] = "fast_datasharing_";

std::string port_name(uint32_t number) {
  return std::string(shared_memory_prefix) + "port" + std::to_string(number);
}

bool starts_with(const std::string &text, const std::string &begin) {
  return text.compare(0, begin.size(), begin) == 0;
}

bool ends_with(const std::string &text, const char *end) {
  const size_t size = strlen(end);
  return text.size() > size && text.compare(text.size() - size, size, end) == 0;
}

/* Calls `found` with each name in a directory. */
template <class Found> void each_name(const char *path, Found found) {
  DIR *dir = opendir(path);
  if (dir == nullptr)
    return;
  while (const dirent *entry = readdir(dir))
    found(std::string(entry->d_name));
  closedir(dir);
}

/* Returns the possible files of a segment or port: its locks, the file itself, and the mutex of a port. */
std::vector<std::string> parts_of(const std::string &guarded) {
  return {guarded + "_el", guarded + "_sl", guarded, "sem." + guarded + "_mutex"};
}

/* Returns one line of a list: files that belong together. */
std::string line_of(const std::vector<std::string> &words) {
  std::string line;
  for (const std::string &word : words)
    line += (line.empty() ? "" : " ") + word;
  return line + "\n";
}

/* Returns the patterns of files that the shared-memory transport of a participant may create. Segment names have 16
 * hexadecimal digits. Each segment is locked by its creator, except one that is created, checked and removed before
 * all others. Ports without a reader have no lock either, but each participant of their domain holds that of the
 * first port: they belong together. */
std::string lines_of_transport(uint32_t domain) {
  std::string lines;
  for (const char digit : std::string("0123456789abcdef")) {
    const std::string segment = shared_memory_prefix + std::string(1, digit) + "*";
    lines += line_of({segment, segment + "_el"});
  }
  std::vector<std::string> ports;
  for (uint32_t number = first_port(domain); number < first_port(domain) + port_gain; number++)
    for (const std::string &part : parts_of(port_name(number)))
      ports.push_back(part);
  return lines + line_of(ports);
}

/* Returns whether another process holds the lock of a segment or a port. */
bool others_hold(const std::string &guarded) {
  for (const char *end : {"_el", "_sl"}) {
    const int fd = ::open((directory + guarded + end).c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
      continue;
    const bool held = flock(fd, LOCK_EX | LOCK_NB) != 0;
    ::close(fd);
    if (held)
      return true;
  }
  return false;
}

/* Removes the files of a segment or port, unless another process holds it. */
void remove_guarded(const std::string &guarded) {
  if (others_hold(guarded))
    return;
  for (const std::string &name : parts_of(guarded))
    unlink((directory + name).c_str());
}

/* Number of participants of this process so far: each has a list of its own. */
std::atomic<uint32_t> lists;

} // namespace

void SharedFiles::begin(const Plan &plan, const std::string &run_name) {
  transport_ = plan.over_shm() ? TRANSPORT_SHM : plan.transport;
  domain_ = plan.domain;
  if (run_name.empty() || (!plan.over_shm() && transport_ != TRANSPORT_DATA_SHARING))
    return;
  path_ = directory + run_name + "." + std::to_string(getpid()) + "." + std::to_string(++lists) + ".shared";
  if (transport_ == TRANSPORT_SHM)
    list(lines_of_transport(domain_));
}

void SharedFiles::named(const std::string &guid) {
  guid_ = guid;
  if (transport_ == TRANSPORT_DATA_SHARING)
    list(data_sharing + guid + "*\n");
}

/* Without a writable list the participant runs nevertheless. */
void SharedFiles::list(const std::string &lines) {
  if (path_.empty())
    return;
  list_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (list_ < 0)
    return;
  /* Locked: another process sees that this process is alive, even if it cannot see our process ids. */
  if (flock(list_, LOCK_EX | LOCK_NB) != 0 ||
      write(list_, lines.data(), lines.size()) != static_cast<ssize_t>(lines.size()))
    drop_list();
}

void SharedFiles::drop_list() {
  if (list_ < 0)
    return;
  unlink(path_.c_str());
  close(list_);
  list_ = -1;
}

void SharedFiles::closing() {
  if (transport_ == TRANSPORT_SHM)
    each_name("/proc/self/fd", [this](const std::string &fd) {
      char target[256];
      const ssize_t n = readlink(("/proc/self/fd/" + fd).c_str(), target, sizeof target - 1);
      const std::string path(target, n > 0 ? static_cast<size_t>(n) : 0);
      if (starts_with(path, std::string(directory) + shared_memory_prefix) &&
          (ends_with(path, "_el") || ends_with(path, "_sl"))) {
        const size_t begin = sizeof directory - 1;
        names_.push_back(path.substr(begin, path.size() - begin - 3));
      }
    });
  if (transport_ == TRANSPORT_DATA_SHARING)
    each_name(directory, [this](const std::string &name) {
      if (starts_with(name, data_sharing + guid_))
        names_.push_back(name);
    });
}

/* Removes the remaining files. The library leaves ports that other participants had opened for writing, and these
 * keep them open. A port removed too early would not be the one that the next participant reads from. The last
 * participant of the domain therefore removes what is left. */
void SharedFiles::end() {
  const std::string first = port_name(first_port(domain_));
  for (const std::string &name : names_) {
    if (!starts_with(name, std::string(shared_memory_prefix) + "port")) {
      if (access((directory + name).c_str(), F_OK) == 0)
        remove_guarded(name);
    } else if (name == first && !others_hold(name)) {
      for (uint32_t number = first_port(domain_); number < first_port(domain_) + port_gain; number++)
        remove_guarded(port_name(number));
    }
  }
  names_.clear();
  drop_list(); /* last, so that a killed process leaves its list */
}
