#include "engine/distributed/doctor/flight_recorder.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <set>

#include "engine/capture/pt2/pickle.h"

namespace kerf::inline distributed::inline doctor {
namespace {

using capture::pt2::Pickle;
using capture::pt2::PickleValue;
using Kind = PickleValue::Kind;

constexpr std::size_t mostValues = 20'000'000;
constexpr std::string_view completed = "completed";

/// A value of a pickle, read leniently: what is not there or is something else is empty.
class Pickled {
 public:
  Pickled(const Pickle& pickle, std::uint32_t index) : m_pickle(&pickle), m_index(index) {}
  const PickleValue& value() const { return m_pickle->values[m_index]; }
  bool isDict() const { return value().kind == Kind::Dict; }
  bool isList() const { return value().kind == Kind::List || value().kind == Kind::Tuple; }
  std::string text() const { return value().kind == Kind::String ? value().text : std::string(); }
  std::optional<std::int64_t> integer() const {
    return value().kind == Kind::Int ? std::optional(value().integer) : std::nullopt;
  }
  bool isTrue() const { return value().kind == Kind::Bool && value().integer != 0; }
  std::vector<Pickled> items() const {
    std::vector<Pickled> result;
    for (const std::uint32_t item : value().items) result.emplace_back(*m_pickle, item);
    return result;
  }
  std::optional<Pickled> find(std::string_view key) const {
    if (!isDict()) return std::nullopt;
    for (std::size_t i = 0; i + 1 < value().items.size(); i += 2)
      if (Pickled(*m_pickle, value().items[i]).text() == key) return Pickled(*m_pickle, value().items[i + 1]);
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

/// "f32[4, 3], f32[8]".
std::string operandsOf(const Pickled& entry) {
  const auto sizes = entry.find("input_sizes"), dtypes = entry.find("input_dtypes");
  if (!sizes || !sizes->isList()) return {};
  std::vector<std::string> texts;
  const auto names = dtypes && dtypes->isList() ? dtypes->items() : std::vector<Pickled>{};
  for (const Pickled& shape : sizes->items()) {
    std::vector<std::int64_t> numbers;
    if (shape.isList())
      for (const Pickled& size : shape.items()) numbers.push_back(size.integer().value_or(-1));
    const std::size_t at = texts.size();
    texts.push_back(fmt::format("{}[{}]", at < names.size() ? scalarName(names[at].text()) : std::string("?"),
                                fmt::join(numbers, ", ")));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// "0 (default_pg)" of ("0", "default_pg").
std::string groupOf(const Pickled& entry) {
  const auto group = entry.find("process_group");
  if (!group) return entry.text("pg_name");
  if (!group->isList()) return group->text();
  std::vector<std::string> parts;
  for (const Pickled& part : group->items()) parts.push_back(part.text());
  if (parts.size() < 2 || parts[1].empty()) return parts.empty() ? std::string() : parts[0];
  return fmt::format("{} ({})", parts[0], parts[1]);
}

/// "all_reduce" of "nccl:all_reduce".
std::string opOf(const Pickled& entry) {
  const std::string name = entry.text("profiling_name");
  const std::size_t colon = name.find(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

/// Members as a list, or as its text "[0, 1]".
std::vector<int> membersOf(const Pickled& config) {
  std::vector<int> ranks;
  const auto found = config.find("ranks");
  if (!found) return ranks;
  if (found->isList())
    for (const Pickled& rank : found->items()) ranks.push_back(int(rank.integer().value_or(-1)));
  std::string digits;
  for (const char c : found->text() + "]") {
    if (c >= '0' && c <= '9' && digits.size() < 9)
      digits += c;
    else if (!digits.empty())
      ranks.push_back(std::stoi(digits)), digits.clear();
  }
  return ranks;
}

void readGroups(const Pickled& root, FlightLog& log) {
  const auto configs = root.find("pg_config");
  if (!configs || !configs->isDict()) return;
  const auto items = configs->items();
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    const std::string name = items[i + 1].text("name"), description = items[i + 1].text("desc");
    const std::string key = name.empty() ? items[i].text() : name;
    std::vector<int> members = membersOf(items[i + 1]);
    if (!members.empty())
      log.groups[description.empty() ? key : fmt::format("{} ({})", key, description)] = std::move(members);
  }
}

/// What one rank has of each collective, and from which number on it has any.
struct RankFlights {
  std::map<std::string, std::map<std::int64_t, const FlightEntry*>> byGroup;
};

std::vector<int> membersOf(const std::string& group, const std::vector<FlightLog>& logs,
                           const std::map<int, RankFlights>& flights) {
  std::set<int> members;
  for (const FlightLog& log : logs) {
    const auto known = log.groups.find(group);
    if (known != log.groups.end()) members.insert(known->second.begin(), known->second.end());
    if (flights.at(log.rank).byGroup.contains(group)) members.insert(log.rank);
  }
  std::vector<int> present;
  for (const FlightLog& log : logs)
    if (members.contains(log.rank)) present.push_back(log.rank);
  return present;
}

struct OrderedRow {
  std::int64_t order = std::numeric_limits<std::int64_t>::max();
  TimelineRow row;
};

/// The collective `number` of a group on its members. Records are rings: a rank whose oldest one is younger says nothing.
OrderedRow rowOf(const std::string& group, std::int64_t number, const std::vector<int>& members,
                 const std::map<int, RankFlights>& flights) {
  OrderedRow result;
  result.row = {int(number), "group " + group, {}};
  std::vector<std::pair<int, std::string>> items;
  for (const int rank : members) {
    const auto& groups = flights.at(rank).byGroup;
    const auto own = groups.find(group);
    const bool isForgotten = own != groups.end() && number < own->second.begin()->first;
    if (isForgotten) continue;
    const auto entry = own == groups.end() ? decltype(own->second.begin()){} : own->second.find(number);
    const bool isThere = own != groups.end() && entry != own->second.end();
    items.emplace_back(rank, isThere ? entry->second->text() : "nothing");
    if (isThere) result.order = std::min(result.order, entry->second->order);
  }
  result.row.groups = groupedByText(items);
  return result;
}

}  // namespace

std::string FlightEntry::text() const {
  const bool mayDiffer = op.find("all_to_all") != std::string::npos || op.find("alltoall") != std::string::npos ||
                         op == "gather" || op == "scatter";
  std::string text = mayDiffer || operands.empty() ? op : op + " of " + operands;
  if (!state.empty() && state != completed) text += fmt::format(" ({})", state);
  return text;
}

bool isFlightRecord(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  char head[2] = {};
  return in.read(head, 2) && head[0] == char(0x80) && head[1] >= 2 && head[1] <= 5;
}

Result<FlightLog> readFlightRecord(const std::filesystem::path& path, int rank) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  auto read = capture::pt2::readPickle(std::as_bytes(std::span(bytes)), mostValues);
  if (!read) return fail(std::move(read).error().atFile(path.string(), 0));
  const Pickled root(*read, read->root);
  const auto entries = root.find("entries");
  if (!entries || !entries->isList())
    return fail(ErrorCode::BadInput, "{} is a pickle, but no flight record: it has no list of entries", path.string());
  FlightLog log;
  log.rank = rank;
  readGroups(root, log);
  for (const Pickled& entry : entries->items()) {
    if (!entry.isDict())
      return fail(ErrorCode::BadInput, "{} is damaged: one of its entries is no record", path.string());
    const auto isMessage = entry.find("is_p2p");
    if (isMessage && isMessage->isTrue()) continue;
    const auto number = entry.find("collective_seq_id"), older = entry.find("seq_id"), order = entry.find("record_id");
    const auto at = number ? number->integer() : older ? older->integer() : std::nullopt;
    if (!at) return fail(ErrorCode::BadInput, "{} is damaged: an entry has no sequence number", path.string());
    log.entries.push_back({order && order->integer() ? *order->integer() : std::int64_t(log.entries.size()),
                           groupOf(entry), *at, opOf(entry), operandsOf(entry), entry.text("state")});
  }
  return log;
}

RanksDiagnosis diagnoseFlights(const std::vector<FlightLog>& logs) {
  RanksDiagnosis diagnosis;
  std::map<int, RankFlights> flights;
  std::map<std::string, std::set<std::int64_t>> numbers;
  for (const FlightLog& log : logs) {
    diagnosis.ranks.push_back(log.rank);
    RankFlights& own = flights[log.rank];
    for (const FlightEntry& entry : log.entries) {
      own.byGroup[entry.group][entry.number] = &entry;
      numbers[entry.group].insert(entry.number);
    }
  }
  std::vector<OrderedRow> rows;
  for (const auto& [group, all] : numbers) {
    const std::vector<int> members = membersOf(group, logs, flights);
    for (const std::int64_t number : all) rows.push_back(rowOf(group, number, members, flights));
  }
  std::ranges::stable_sort(rows, {}, &OrderedRow::order);
  for (OrderedRow& row : rows) diagnosis.timeline.push_back(std::move(row.row));
  const auto differing = std::ranges::find_if(diagnosis.timeline, &TimelineRow::differs);
  if (differing == diagnosis.timeline.end()) return diagnosis;
  std::map<int, std::string> before;
  for (const int rank : diagnosis.ranks) before[rank] = "no collective";
  for (auto row = diagnosis.timeline.begin(); row != differing; ++row)
    for (const RankGroup& group : row->groups)
      for (const int rank : group.ranks)
        before[rank] = fmt::format("{} (number {} of {})", group.what, row->number, row->compileId);
  std::vector<std::pair<int, std::string>> last;
  for (const RankGroup& group : differing->groups)
    for (const int rank : group.ranks) last.emplace_back(rank, before[rank]);
  std::ranges::sort(last);
  diagnosis.culprit = culpritOfRow(*differing);
  diagnosis.culprit->lastDone = groupedByText(last);
  return diagnosis;
}

}  // namespace kerf::inline distributed::inline doctor
