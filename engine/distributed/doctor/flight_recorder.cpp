#include "engine/distributed/doctor/flight_recorder.h"

#include <algorithm>
#include <climits>
#include <fstream>
#include <set>

#include "engine/capture/pt2/pickle.h"
#include "engine/distributed/doctor/flight_json.h"

namespace kerf::inline distributed::inline doctor {
namespace {

using capture::pt2::Pickle;
using capture::pt2::PickleValue;
using Kind = PickleValue::Kind;

constexpr std::size_t mostValues = 20'000'000;
constexpr std::uintmax_t mostBytes = std::uintmax_t{1} << 30;
/// More of them no record has: pickles may name one value any number of times.
constexpr std::size_t mostKeys = 256, longestName = 4096, mostMembers = 1 << 20;
constexpr std::string_view tooLarge = " is damaged: its groups or entries are larger than the file can be";

/// Bytes that what is read of a file may take. Every part of a record takes a few times the bytes of its pickle, unless
/// the pickle names one value again and again.
std::size_t roomOf(std::size_t fileBytes) { return 16 * fileBytes + (std::size_t{1} << 20); }
/// Takes them; false where there is no such room.
bool takeRoom(std::size_t& room, std::size_t bytes) {
  if (bytes >= room) return room = 0, false;
  room -= bytes;
  return true;
}

/// A value of a pickle, read leniently: what is not there or is something else is empty.
class Pickled {
 public:
  Pickled(const Pickle& pickle, std::uint32_t index) : m_pickle(&pickle), m_index(index) {}
  const PickleValue& value() const { return m_pickle->values[m_index]; }
  bool isDict() const { return value().kind == Kind::Dict; }
  bool isList() const { return value().kind == Kind::List || value().kind == Kind::Tuple; }
  /// The first of it: names are no longer.
  std::string text() const {
    return value().kind == Kind::String ? value().text.substr(0, longestName) : std::string();
  }
  std::optional<std::int64_t> integer() const {
    return value().kind == Kind::Int ? std::optional(value().integer) : std::nullopt;
  }
  bool isTrue() const { return value().kind == Kind::Bool && value().integer != 0; }
  std::size_t size() const { return value().items.size(); }
  Pickled item(std::size_t at) const { return {*m_pickle, value().items[at]}; }
  std::optional<Pickled> find(std::string_view key) const {
    if (!isDict() || value().items.size() > 2 * mostKeys) return std::nullopt;
    for (std::size_t i = 0; i + 1 < value().items.size(); i += 2)
      if (item(i).value().kind == Kind::String && item(i).value().text == key) return item(i + 1);
    return std::nullopt;
  }
  std::string text(std::string_view key) const {
    const auto found = find(key);
    return found ? found->text() : std::string();
  }

 private:
  const Pickle* m_pickle;
  std::uint32_t m_index;
};

struct ScalarName {
  std::string_view recorded, name;
};
constexpr ScalarName scalarNames[] = {{"Float", "f32"}, {"Double", "f64"}, {"Half", "f16"},  {"BFloat16", "bf16"},
                                      {"Long", "i64"},  {"Int", "i32"},    {"Short", "i16"}, {"Char", "i8"},
                                      {"Byte", "u8"},   {"Bool", "b8"}};

std::string scalarName(const std::string& recorded) {
  const auto* found = std::ranges::find(scalarNames, recorded, &ScalarName::recorded);
  return found == std::end(scalarNames) ? recorded : std::string(found->name);
}

/// "f32[4, 3], f32[8]"; no longer than `room`, of which it takes.
std::string operandsOf(const Pickled& entry, std::size_t& room) {
  const auto sizes = entry.find("input_sizes"), dtypes = entry.find("input_dtypes");
  if (!sizes || !sizes->isList()) return {};
  std::string text;
  const auto& shapes = sizes->value().items;
  for (std::size_t at = 0; at < shapes.size() && text.size() < room; ++at) {
    const Pickled shape = sizes->item(at);
    const bool isNamed = dtypes && dtypes->isList() && at < dtypes->value().items.size();
    text += fmt::format("{}{}[", at == 0 ? "" : ", ", isNamed ? scalarName(dtypes->item(at).text()) : "?");
    for (std::size_t d = 0; shape.isList() && d < shape.value().items.size() && text.size() < room; ++d)
      text += fmt::format("{}{}", d == 0 ? "" : ", ", shape.item(d).integer().value_or(-1));
    text += "]";
  }
  takeRoom(room, text.size());
  return text;
}

/// "0 (default_pg)" of ("0", "default_pg").
std::string groupOf(const Pickled& entry) {
  const auto group = entry.find("process_group");
  if (!group) return entry.text("pg_name");
  if (!group->isList()) return group->text();
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min<std::size_t>(2, group->value().items.size()); ++i)
    parts.push_back(group->item(i).text());
  if (parts.size() < 2 || parts[1].empty()) return parts.empty() ? std::string() : parts[0];
  return fmt::format("{} ({})", parts[0], parts[1]);
}

/// "all_reduce" of "nccl:all_reduce".
std::string opOf(const Pickled& entry) {
  const std::string name = entry.text("profiling_name");
  const std::size_t colon = name.find(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

/// Members as a list, or as its text "[0, 1]". None, and no room left, where there is none to look at them.
std::vector<int> membersOf(const Pickled& config, std::size_t& room) {
  std::vector<int> ranks;
  const auto found = config.find("ranks");
  if (!found || !takeRoom(room, found->value().text.size() + found->size())) return ranks;
  if (found->isList())
    for (std::size_t i = 0; i < std::min(found->value().items.size(), mostMembers); ++i)
      ranks.push_back(int(std::clamp<std::int64_t>(found->item(i).integer().value_or(-1), -1, INT_MAX)));
  std::string digits;
  for (const char c : found->value().text.substr(0, mostMembers) + "]") {
    if (c >= '0' && c <= '9' && digits.size() < 9)
      digits += c;
    else if (!digits.empty())
      ranks.push_back(std::stoi(digits)), digits.clear();
  }
  return ranks;
}

/// False where the groups need more than the room.
bool readGroups(const Pickled& root, FlightLog& log, std::size_t& room) {
  constexpr std::size_t nodeBytes = 64;  // of the map, about
  const auto configs = root.find("pg_config");
  if (!configs || !configs->isDict()) return true;
  for (std::size_t i = 0; i + 1 < configs->size(); i += 2) {
    const Pickled config = configs->item(i + 1);
    const std::string name = config.text("name"), description = config.text("desc");
    std::string key = name.empty() ? configs->item(i).text() : name;
    if (!description.empty()) key += fmt::format(" ({})", description);
    std::vector<int> members = membersOf(config, room);
    const std::size_t bytes =
        nodeBytes + sizeof(decltype(log.groups)::value_type) + key.size() + members.size() * sizeof(int);
    if (!takeRoom(room, bytes)) return false;
    if (!members.empty()) log.groups[std::move(key)] = std::move(members);
  }
  return true;
}

}  // namespace

namespace {

enum class RecordForm { None, Pickle, Json };

/// A dict as protocols 0 and 1 begin it, which have no head of their own: "(dp0", "(dS'", "}q".
bool beginsOldPickle(std::string_view head) {
  constexpr std::string_view afterOpened = "pVS.g", afterEmpty = "q(r.";
  if (head.starts_with("(d") && head.size() > 2) return afterOpened.contains(head[2]);
  return head.size() > 1 && head[0] == '}' && afterEmpty.contains(head[1]);
}

RecordForm recordForm(std::string_view head) {
  if (head.size() >= 2 && head[0] == char(0x80) && head[1] >= 2 && head[1] <= 5) return RecordForm::Pickle;
  if (beginsOldPickle(head)) return RecordForm::Pickle;
  return looksLikeFlightJson(head) ? RecordForm::Json : RecordForm::None;
}

constexpr std::size_t recordHead = 1 << 16;

}  // namespace

bool isFlightRecord(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string head(recordHead, '\0');
  in.read(head.data(), std::streamsize(head.size()));
  head.resize(std::size_t(std::max<std::streamsize>(in.gcount(), 0)));
  return recordForm(head) != RecordForm::None;
}

namespace {

/// "0->1" of "send 0->1" and of "recv 1<-0": who sends to whom, by ranks of the group. None for other names.
std::optional<std::pair<int, int>> routeOf(const std::string& op) {
  int own = 0, other = 0;
  if (std::sscanf(op.c_str(), "send %9d->%9d", &own, &other) == 2) return std::pair(own, other);
  if (std::sscanf(op.c_str(), "recv %9d<-%9d", &own, &other) == 2) return std::pair(other, own);
  return std::nullopt;
}

Result<FlightEntry> readEntry(const Pickled& entry, std::size_t place, const std::string& file, std::size_t& room) {
  if (!entry.isDict()) return fail(ErrorCode::BadInput, "{} is damaged: one of its entries is no record", file);
  const auto isMessage = entry.find("is_p2p");
  FlightEntry result{.order = std::int64_t(place), .group = groupOf(entry), .op = opOf(entry)};
  result.isMessage = isMessage && isMessage->isTrue();
  const auto number = entry.find(result.isMessage ? "p2p_seq_id" : "collective_seq_id"), older = entry.find("seq_id"),
             order = entry.find("record_id");
  const auto at = number ? number->integer() : older ? older->integer() : std::nullopt;
  if (!at && !result.isMessage)
    return fail(ErrorCode::BadInput, "{} is damaged: an entry has no sequence number", file);
  result.number = at.value_or(0);
  if (order && order->integer()) result.order = *order->integer();
  if (result.isMessage) result.route = routeOf(result.op);
  result.operands = operandsOf(entry, room);
  result.state = entry.text("state");
  takeRoom(room, sizeof(FlightEntry) + result.group.size() + result.op.size() + result.state.size());
  return result;
}

}  // namespace

Result<FlightLog> readFlightRecord(const std::filesystem::path& path, int rank) {
  std::error_code ignored;
  if (const auto bytes = std::filesystem::file_size(path, ignored); ignored || bytes > mostBytes)
    return fail(ErrorCode::TooLarge, "{} is no flight record: those have at most {} bytes", path.string(), mostBytes);
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  const bool isJson = recordForm(std::string_view(bytes).substr(0, recordHead)) == RecordForm::Json;
  auto read = isJson ? readFlightJson(bytes, mostValues)
                     : capture::pt2::readPickle(std::as_bytes(std::span(bytes)), mostValues);
  if (!read) return fail(std::move(read).error().atFile(path.string(), 0));
  const Pickled root(*read, read->root);
  const auto entries = root.find("entries");
  if (!entries || !entries->isList())
    return fail(ErrorCode::BadInput, "{} is {}, but no flight record: it has no list of entries", path.string(),
                isJson ? "JSON" : "a pickle");
  FlightLog log;
  log.rank = rank;
  log.file = path.filename().string();
  std::size_t room = roomOf(bytes.size());
  if (!readGroups(root, log, room)) return fail(ErrorCode::BadInput, "{}{}", path.string(), tooLarge);
  for (std::size_t at = 0; at < entries->size(); ++at) {
    KERF_TRY(FlightEntry one, readEntry(entries->item(at), at, path.string(), room));
    if (room == 0) return fail(ErrorCode::BadInput, "{}{}", path.string(), tooLarge);
    log.entries.push_back(std::move(one));
  }
  return log;
}

}  // namespace kerf::inline distributed::inline doctor
