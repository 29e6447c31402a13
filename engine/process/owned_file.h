// OwnedFile: a file descriptor that is closed with its object.
#pragma once

#include <utility>

#include <unistd.h>

namespace kerf::inline process {

class OwnedFile {
 public:
  OwnedFile() = default;
  /// Takes it over; -1 is none.
  explicit OwnedFile(int number) : m_number(number) {}
  OwnedFile(OwnedFile&& other) noexcept : m_number(std::exchange(other.m_number, -1)) {}
  OwnedFile& operator=(OwnedFile&& other) noexcept {
    close();
    m_number = std::exchange(other.m_number, -1);
    return *this;
  }
  ~OwnedFile() { close(); }
  int number() const { return m_number; }
  bool isOpen() const { return m_number >= 0; }
  void close() {
    if (m_number >= 0) ::close(std::exchange(m_number, -1));
  }

 private:
  int m_number = -1;
};

}  // namespace kerf::inline process
