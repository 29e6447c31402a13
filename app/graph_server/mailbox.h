// Mailbox: calls of graphs by words in memory that both processes see, without a system call while calls follow closely.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "app/graph_server/shared_region.h"

namespace kerf::graph_server {

class Mailbox {
 public:
  enum class Answer : std::uint32_t {
    Done = 0,
    Ask = 1
  };  ///< Ask: outputs have other shapes, or it failed: the socket tells
  using Call = std::function<Answer(std::uint32_t graph)>;

  /// Answers on a thread of its own until it goes.
  Mailbox(std::shared_ptr<SharedRegion> region, Call call);
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  ~Mailbox();

  static constexpr std::size_t bytes = 4096;

 private:
  /// python/kerf/backend/call.c has the same places.
  enum Word : std::size_t { Asked = 0, Answered = 16, Graph = 32, Status = 48, ServerSleeps = 64, ClientSleeps = 80 };

  std::uint32_t* word(Word at) const { return reinterpret_cast<std::uint32_t*>(m_region->data()) + at; }
  void serve(const std::stop_token& stop);
  void awaitCall(std::uint32_t last);

  std::shared_ptr<SharedRegion> m_region;
  Call m_call;
  std::jthread m_thread;
};

}  // namespace kerf::graph_server
