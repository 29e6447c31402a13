#include "engine/distributed/group/in_process.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace kerf::inline distributed::inline group {
namespace {

constexpr std::string_view consequence = "waited";

/// One meeting of the members of a group.
struct Meeting {
  std::vector<std::optional<Tensor>> brought;
  std::vector<CollectiveCall> calls;
  int present = 0, left = 0;
};

struct Message {
  int from, to, tag;
  std::string group;
  Tensor tensor;
};

class World {
 public:
  World(int size, InProcessOptions options)
      : m_options(options), m_last(std::size_t(size)), m_ended(std::size_t(size)), m_counts(std::size_t(size)) {}

  int size() const { return int(m_last.size()); }
  Result<std::vector<Tensor>> gather(int rank, const Group& group, const CollectiveCall& call, const Tensor& mine);
  Result<void> send(Message message);
  Result<Tensor> receive(int rank, const Group& group, int from, int tag);
  void end(int rank, const Result<void>& result);

 private:
  using Lock = std::unique_lock<std::mutex>;
  static std::string keyOf(const Group& group) { return fmt::format("{}:{}", group.name, fmt::join(group.ranks, ",")); }
  bool anyEnded(const std::vector<int>& ranks) const;
  std::unexpected<Error> missingError(int rank, const std::string& what, const std::vector<int>& missing) const;
  static Result<void> agree(const Group& group, const Meeting& meeting, std::int64_t number);

  InProcessOptions m_options;
  mutable std::mutex m_mutex;
  std::condition_variable m_changed;
  std::vector<std::string> m_last;  ///< what each rank called last
  std::vector<std::optional<std::string>> m_ended;
  std::vector<std::map<std::string, std::int64_t>> m_counts;  ///< by rank: calls of each group
  std::map<std::pair<std::string, std::int64_t>, std::shared_ptr<Meeting>> m_meetings;
  std::vector<Message> m_messages;
};

bool World::anyEnded(const std::vector<int>& ranks) const {
  return std::ranges::any_of(ranks, [&](int rank) { return m_ended[std::size_t(rank)].has_value(); });
}

std::unexpected<Error> World::missingError(int rank, const std::string& what, const std::vector<int>& missing) const {
  std::string told;
  for (const int other : missing) {
    const auto& ended = m_ended[std::size_t(other)];
    const std::string& last = m_last[std::size_t(other)];
    told += fmt::format("; rank {} {}, last called {}", other, ended ? *ended : std::string("is elsewhere"),
                        last.empty() ? "nothing" : last);
  }
  return fail(ErrorCode::RuntimeFailed, "rank {} waited in {} for rank{} {}{}", rank, what,
              missing.size() == 1 ? "" : "s", fmt::join(missing, ", "), told);
}

Result<void> World::agree(const Group& group, const Meeting& meeting, std::int64_t number) {
  for (std::size_t i = 1; i < meeting.calls.size(); ++i)
    if (meeting.calls[i].text() != meeting.calls[0].text())
      return fail(ErrorCode::BadInput, "collective {} of group '{}' differs: rank {} calls {}, rank {} calls {}",
                  number, group.name, group.ranks[0], meeting.calls[0].text(), group.ranks[i], meeting.calls[i].text());
  return {};
}

Result<std::vector<Tensor>> World::gather(int rank, const Group& group, const CollectiveCall& call,
                                          const Tensor& mine) {
  const int index = group.indexOf(rank);
  if (index < 0) return fail(ErrorCode::BadInput, "rank {} is no member of group '{}'", rank, group.name);
  KERF_TRY(Tensor copy, mine.clone());
  Lock lock(m_mutex);
  const std::string key = keyOf(group);
  const std::int64_t number = m_counts[std::size_t(rank)][key]++;
  const std::string what = fmt::format("{} (number {} of group '{}')", call.text(), number, group.name);
  m_last[std::size_t(rank)] = what;
  auto& place = m_meetings[{key, number}];
  if (!place) {
    place = std::make_shared<Meeting>();
    place->brought.resize(group.ranks.size());
    place->calls.resize(group.ranks.size());
  }
  const std::shared_ptr<Meeting> meeting = place;
  meeting->brought[std::size_t(index)] = std::move(copy);
  meeting->calls[std::size_t(index)] = call;
  ++meeting->present;
  m_changed.notify_all();
  const auto missing = [&] {
    std::vector<int> ranks;
    for (std::size_t i = 0; i < group.ranks.size(); ++i)
      if (!meeting->brought[i]) ranks.push_back(group.ranks[i]);
    return ranks;
  };
  m_changed.wait_for(lock, m_options.timeout, [&] { return meeting->present == group.size() || anyEnded(missing()); });
  if (meeting->present != group.size()) return missingError(rank, what, missing());
  KERF_CHECK(agree(group, *meeting, number));
  std::vector<Tensor> result;
  for (const auto& tensor : meeting->brought) result.push_back(*tensor);
  if (++meeting->left == group.size()) m_meetings.erase({key, number});
  return result;
}

Result<void> World::send(Message message) {
  KERF_TRY(message.tensor, message.tensor.clone());
  const Lock lock(m_mutex);
  m_last[std::size_t(message.from)] = fmt::format("send to rank {}", message.to);
  m_messages.push_back(std::move(message));
  m_changed.notify_all();
  return {};
}

Result<Tensor> World::receive(int rank, const Group& group, int from, int tag) {
  Lock lock(m_mutex);
  const std::string what = fmt::format("recv from rank {} (tag {})", from, tag);
  m_last[std::size_t(rank)] = what;
  const auto find = [&] {
    return std::ranges::find_if(m_messages, [&](const Message& message) {
      return message.from == from && message.to == rank && message.tag == tag && message.group == group.name;
    });
  };
  m_changed.wait_for(lock, m_options.timeout, [&] { return find() != m_messages.end() || anyEnded({from}); });
  const auto found = find();
  if (found == m_messages.end()) return missingError(rank, what, {from});
  Tensor tensor = std::move(found->tensor);
  m_messages.erase(found);
  return tensor;
}

void World::end(int rank, const Result<void>& result) {
  const Lock lock(m_mutex);
  m_ended[std::size_t(rank)] = result ? "has ended" : "failed (" + result.error().message + ")";
  m_changed.notify_all();
}

class Member : public Communicator {
 public:
  Member(World& world, int rank) : m_world(world), m_rank(rank) {}
  int rank() const override { return m_rank; }
  int worldSize() const override { return m_world.size(); }
  Result<std::vector<Tensor>> gather(const Group& group, const CollectiveCall& call, const Tensor& mine) override {
    return m_world.gather(m_rank, group, call, mine);
  }
  Result<void> send(const Group& group, int to, int tag, const Tensor& tensor) override {
    if (to < 0 || to >= group.size()) return fail(ErrorCode::BadInput, "group '{}' has no rank {}", group.name, to);
    return m_world.send({m_rank, group.ranks[std::size_t(to)], tag, group.name, tensor});
  }
  Result<Tensor> receive(const Group& group, int from, int tag) override {
    if (from < 0 || from >= group.size())
      return fail(ErrorCode::BadInput, "group '{}' has no rank {}", group.name, from);
    return m_world.receive(m_rank, group, group.ranks[std::size_t(from)], tag);
  }

 private:
  World& m_world;
  int m_rank;
};

}  // namespace

std::vector<Result<void>> runRanks(int ranks, const RankBody& body, const InProcessOptions& options) {
  World world(ranks, options);
  std::vector<Result<void>> results{std::size_t(ranks)};
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] {
        Member member(world, rank);
        results[std::size_t(rank)] = guardedRank(body, member);
        world.end(rank, results[std::size_t(rank)]);
      });
  }
  return results;
}

Result<void> guardedRank(const RankBody& body, Communicator& member) {
  try {
    return body(member);
  } catch (const std::exception& error) {
    return fail(ErrorCode::Internal, "rank {} broke down: {}", member.rank(), error.what());
  }
}

Result<void> firstCause(const std::vector<Result<void>>& results) {
  const Result<void>* failed = nullptr;
  for (const auto& result : results) {
    if (result) continue;
    if (result.error().message.find(consequence) == std::string::npos) return result;
    if (failed == nullptr) failed = &result;
  }
  return failed != nullptr ? *failed : Result<void>{};
}

}  // namespace kerf::inline distributed::inline group
