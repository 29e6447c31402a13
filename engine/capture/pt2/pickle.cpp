// The opcodes of protocols 1 to 5; pickle_text.cpp has those of protocol 0.
#include "engine/capture/pt2/pickle.h"

#include <bit>

#include "engine/capture/pt2/pickle_machine.h"
#include "engine/capture/pt2/pickle_names.h"

namespace kerf::inline capture::pt2 {

const std::array<PickleMachine::Step, 256>& PickleMachine::steps() {
  static const std::array<Step, 256> table = [] {
    const Row rows[] = {
        {0x80, &PickleMachine::protocol},    {0x95, &PickleMachine::frame},       {'(', &PickleMachine::mark},
        {'N', &PickleMachine::none},         {0x88, &PickleMachine::yes},         {0x89, &PickleMachine::no},
        {')', &PickleMachine::emptyTuple},   {']', &PickleMachine::emptyList},    {'}', &PickleMachine::emptyDict},
        {'t', &PickleMachine::tuple},        {0x85, &PickleMachine::tuple1},      {0x86, &PickleMachine::tuple2},
        {0x87, &PickleMachine::tuple3},      {'a', &PickleMachine::append},       {'e', &PickleMachine::appends},
        {'s', &PickleMachine::setItem},      {'u', &PickleMachine::setItems},     {'K', &PickleMachine::int1},
        {'M', &PickleMachine::int2},         {'J', &PickleMachine::int4},         {0x8a, &PickleMachine::long1},
        {'G', &PickleMachine::binFloat},     {0x8c, &PickleMachine::unicode1},    {'X', &PickleMachine::unicode4},
        {0x8d, &PickleMachine::unicode8},    {'C', &PickleMachine::bytes1},       {'B', &PickleMachine::bytes4},
        {'q', &PickleMachine::put1},         {'r', &PickleMachine::put4},         {0x94, &PickleMachine::memoizeNext},
        {'h', &PickleMachine::get1},         {'j', &PickleMachine::get4},         {'c', &PickleMachine::global},
        {0x93, &PickleMachine::stackGlobal}, {'Q', &PickleMachine::persistentId}, {'R', &PickleMachine::reduce},
        {'b', &PickleMachine::build},        {'0', &PickleMachine::popOne},       {'.', &PickleMachine::stop},
        {'I', &PickleMachine::intLine},      {'L', &PickleMachine::longLine},     {'F', &PickleMachine::floatLine},
        {'S', &PickleMachine::stringLine},   {'V', &PickleMachine::unicodeLine},  {'p', &PickleMachine::putLine},
        {'g', &PickleMachine::getLine},      {'l', &PickleMachine::list},         {'d', &PickleMachine::dict},
        {'U', &PickleMachine::string1},      {'T', &PickleMachine::string4},      {'2', &PickleMachine::dup},
        {'1', &PickleMachine::popMark}};
    std::array<Step, 256> filled{};
    for (const Row& row : rows) filled[row.code] = row.step;
    return filled;
  }();
  return table;
}

Result<std::span<const std::byte>> PickleMachine::take(std::uint64_t count) {
  if (count > m_bytes.size() - m_at) return fail(ErrorCode::BadInput, "the pickle is cut off");
  const auto taken = m_bytes.subspan(m_at, count);
  m_at += count;
  return taken;
}

Result<std::uint64_t> PickleMachine::number(std::size_t bytes) {
  KERF_TRY(const auto taken, take(bytes));
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value |= std::to_integer<std::uint64_t>(taken[i]) << (8 * i);
  return value;
}

Result<std::string> PickleMachine::line() {
  std::string out;
  for (;;) {
    KERF_TRY(const auto taken, take(1));
    const char c = char(taken[0]);
    if (c == '\n') return out;
    out += c;
  }
}

Result<void> PickleMachine::text(Kind kind, std::size_t lengthBytes) {
  KERF_TRY(const std::uint64_t length, number(lengthBytes));
  KERF_TRY(const auto taken, take(length));
  PickleValue value;
  value.kind = kind;
  value.text.assign(reinterpret_cast<const char*>(taken.data()), taken.size());
  KERF_CHECK(push(std::move(value)));
  return {};
}

Result<std::uint32_t> PickleMachine::push(PickleValue value) {
  if (m_pickle.values.size() >= m_maxValues)
    return fail(ErrorCode::TooLarge, "the pickle holds more than {} values", m_maxValues);
  const auto index = static_cast<Index>(m_pickle.values.size());
  m_pickle.values.push_back(std::move(value));
  m_stack.push_back(index);
  return index;
}

/// A value that is there already. A stack that outgrows the values was filled by repeating one.
Result<void> PickleMachine::pushAgain(Index index) {
  if (m_stack.size() >= m_maxValues)
    return fail(ErrorCode::TooLarge, "the pickle repeats its values more than {} times", m_maxValues);
  m_stack.push_back(index);
  return {};
}

Result<void> PickleMachine::pushKind(Kind kind, std::int64_t integer) {
  PickleValue value;
  value.kind = kind;
  value.integer = integer;
  KERF_CHECK(push(std::move(value)));
  return {};
}

Result<std::uint32_t> PickleMachine::pop() {
  if (m_stack.empty() || m_pickle.values[m_stack.back()].kind == Kind::Mark)
    return fail(ErrorCode::BadInput, "the pickle takes more values than it has");
  const Index index = m_stack.back();
  m_stack.pop_back();
  return index;
}

Result<PickleValue*> PickleMachine::top(Kind kind) {
  if (m_stack.empty() || m_pickle.values[m_stack.back()].kind != kind)
    return fail(ErrorCode::BadInput, "the pickle adds to something that is not a container");
  return &m_pickle.values[m_stack.back()];
}

Result<std::vector<std::uint32_t>> PickleMachine::popToMark() {
  std::size_t at = m_stack.size();
  while (at > 0 && m_pickle.values[m_stack[at - 1]].kind != Kind::Mark) --at;
  if (at == 0) return fail(ErrorCode::BadInput, "the pickle closes what it never opened");
  std::vector<Index> items(m_stack.begin() + std::ptrdiff_t(at), m_stack.end());
  m_stack.resize(at - 1);
  return items;
}

Result<void> PickleMachine::pushTuple(std::size_t count) {
  PickleValue value;
  value.kind = Kind::Tuple;
  value.items.resize(count);
  for (std::size_t i = count; i-- > 0;) {
    KERF_TRY(value.items[i], pop());
  }
  KERF_CHECK(push(std::move(value)));
  return {};
}

Result<void> PickleMachine::tuple() {
  PickleValue value;
  value.kind = Kind::Tuple;
  KERF_TRY(value.items, popToMark());
  KERF_CHECK(push(std::move(value)));
  return {};
}

Result<void> PickleMachine::append() {
  KERF_TRY(const Index item, pop());
  KERF_TRY(PickleValue * list, top(Kind::List));
  list->items.push_back(item);
  return {};
}

Result<void> PickleMachine::appends() {
  KERF_TRY(const auto items, popToMark());
  KERF_TRY(PickleValue * list, top(Kind::List));
  list->items.insert(list->items.end(), items.begin(), items.end());
  return {};
}

Result<void> PickleMachine::setItem() {
  KERF_TRY(const Index value, pop());
  KERF_TRY(const Index key, pop());
  KERF_TRY(PickleValue * dict, top(Kind::Dict));
  dict->items.push_back(key);
  dict->items.push_back(value);
  return {};
}

Result<void> PickleMachine::setItems() {
  KERF_TRY(const auto items, popToMark());
  if (items.size() % 2 != 0) return fail(ErrorCode::BadInput, "the pickle gives a dict a key without a value");
  KERF_TRY(PickleValue * dict, top(Kind::Dict));
  dict->items.insert(dict->items.end(), items.begin(), items.end());
  return {};
}

Result<void> PickleMachine::protocol() {
  KERF_TRY(const std::uint64_t version, number(1));
  if (version <= 5) return {};
  return fail(ErrorCode::BadInput, "pickle protocol {} is not known", version);
}

Result<void> PickleMachine::frame() {
  KERF_CHECK(number(8));
  return {};
}

Result<void> PickleMachine::pushInteger(std::size_t bytes) {
  KERF_TRY(const std::uint64_t value, number(bytes));
  return pushKind(Kind::Int, std::int64_t(value));
}

Result<void> PickleMachine::int1() { return pushInteger(1); }
Result<void> PickleMachine::int2() { return pushInteger(2); }

Result<void> PickleMachine::int4() {
  KERF_TRY(const std::uint64_t value, number(4));
  return pushKind(Kind::Int, std::int32_t(std::uint32_t(value)));
}

Result<void> PickleMachine::long1() {
  KERF_TRY(const std::uint64_t length, number(1));
  if (length > 8) return fail(ErrorCode::BadInput, "the pickle holds an integer of more than 64 bits");
  KERF_TRY(std::uint64_t value, number(length));
  if (length > 0 && length < 8 && (value >> (8 * length - 1)) != 0) value |= ~std::uint64_t{0} << (8 * length);
  return pushKind(Kind::Int, std::int64_t(value));
}

Result<void> PickleMachine::binFloat() {
  KERF_TRY(const auto taken, take(8));
  std::uint64_t bits = 0;
  for (const std::byte byte : taken) bits = (bits << 8) | std::to_integer<std::uint64_t>(byte);
  PickleValue value;
  value.kind = Kind::Float;
  value.real = std::bit_cast<double>(bits);
  KERF_CHECK(push(std::move(value)));
  return {};
}

Result<void> PickleMachine::memoize(std::uint64_t key) {
  if (m_stack.empty()) return fail(ErrorCode::BadInput, "the pickle keeps a value that it does not have");
  if (m_memo.size() >= m_pickle.values.size() && !m_memo.contains(key))
    return fail(ErrorCode::BadInput, "the pickle keeps values more often than it has any");
  m_memo[key] = m_stack.back();
  return {};
}

Result<void> PickleMachine::recall(std::uint64_t key) {
  const auto found = m_memo.find(key);
  if (found == m_memo.end()) return fail(ErrorCode::BadInput, "the pickle recalls a value that it never kept");
  return pushAgain(found->second);
}

Result<void> PickleMachine::put1() {
  KERF_TRY(const std::uint64_t key, number(1));
  return memoize(key);
}

Result<void> PickleMachine::put4() {
  KERF_TRY(const std::uint64_t key, number(4));
  return memoize(key);
}

Result<void> PickleMachine::get1() {
  KERF_TRY(const std::uint64_t key, number(1));
  return recall(key);
}

Result<void> PickleMachine::get4() {
  KERF_TRY(const std::uint64_t key, number(4));
  return recall(key);
}

Result<void> PickleMachine::pushName(const std::string& module, const std::string& name) {
  PickleValue value;
  value.kind = Kind::Name;
  value.text = module + "." + name;
  if (!isKnownPickleName(value.text))
    return fail(ErrorCode::BadInput, "the pickle asks for '{}'; only tensors are read and nothing is run", value.text);
  KERF_CHECK(push(std::move(value)));
  return {};
}

Result<void> PickleMachine::global() {
  KERF_TRY(const std::string module, line());
  KERF_TRY(const std::string name, line());
  return pushName(module, name);
}

Result<void> PickleMachine::stackGlobal() {
  KERF_TRY(const Index name, pop());
  KERF_TRY(const Index module, pop());
  const std::string moduleText = m_pickle.values[module].text, nameText = m_pickle.values[name].text;
  return pushName(moduleText, nameText);
}

Result<void> PickleMachine::persistentId() {
  KERF_TRY(const Index id, pop());
  KERF_TRY(PickleValue storage, storageValue(m_pickle, id));
  KERF_CHECK(push(std::move(storage)));
  return {};
}

Result<void> PickleMachine::reduce() {
  KERF_TRY(const Index args, pop());
  KERF_TRY(const Index callable, pop());
  if (m_pickle.values[callable].kind != Kind::Name)
    return fail(ErrorCode::BadInput, "the pickle calls something that has no name");
  const std::string name = m_pickle.values[callable].text;
  KERF_TRY(PickleValue value, rebuildValue(m_pickle, name, args));
  KERF_CHECK(push(std::move(value)));
  return {};
}

/// Attributes of a tensor or dict; they are no data.
Result<void> PickleMachine::build() {
  KERF_CHECK(pop());
  if (m_stack.empty()) return fail(ErrorCode::BadInput, "the pickle adds attributes to nothing");
  return {};
}

Result<void> PickleMachine::popOne() {
  if (m_stack.empty()) return fail(ErrorCode::BadInput, "the pickle takes more values than it has");
  m_stack.pop_back();
  return {};
}

Result<void> PickleMachine::popMark() {
  KERF_CHECK(popToMark());
  return {};
}

Result<void> PickleMachine::dup() {
  if (m_stack.empty()) return fail(ErrorCode::BadInput, "the pickle takes more values than it has");
  return pushAgain(m_stack.back());
}

Result<void> PickleMachine::stop() {
  KERF_TRY(m_pickle.root, pop());
  m_stopped = true;
  return {};
}

Result<Pickle> PickleMachine::run() {
  std::size_t calls = 0;
  while (!m_stopped) {
    KERF_TRY(const std::uint64_t code, number(1));
    const Step step = steps()[code];
    if (step == nullptr)
      return fail(ErrorCode::BadInput, "the pickle uses opcode 0x{:02x}, which tensors do not need", code);
    KERF_CHECK((this->*step)());
    if (++calls > 8 * m_maxValues) return fail(ErrorCode::TooLarge, "the pickle is too long");
  }
  return std::move(m_pickle);
}

Result<Pickle> readPickle(std::span<const std::byte> bytes, std::size_t maxValues) {
  return PickleMachine(bytes, maxValues).run();
}

}  // namespace kerf::inline capture::pt2
