// The pickle machine, as Python's pickletools documents its opcodes; only those that move data exist here.
#include "engine/capture/pt2/pickle.h"

#include <array>
#include <bit>
#include <unordered_map>

#include "engine/capture/pt2/pickle_names.h"

namespace kerf::inline capture::pt2 {
namespace {

using Kind = PickleValue::Kind;
using Index = std::uint32_t;

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, std::size_t maxValues) : m_bytes(bytes), m_maxValues(maxValues) {}

  Result<Pickle> run();

 private:
  using Step = Result<void> (Machine::*)();
  struct Row {
    unsigned char code;
    Step step;
  };
  static const std::array<Step, 256>& steps();

  // Reading
  Result<std::span<const std::byte>> take(std::uint64_t count);
  Result<std::uint64_t> number(std::size_t bytes);
  Result<std::string> line();
  Result<void> text(Kind kind, std::size_t lengthBytes);

  // Stack
  Result<Index> push(PickleValue value);
  Result<void> pushKind(Kind kind, std::int64_t integer = 0);
  Result<Index> pop();
  Result<PickleValue*> top(Kind kind);
  Result<std::vector<Index>> popToMark();
  Result<void> pushTuple(std::size_t count);
  Result<void> memoize(std::uint64_t key);
  Result<void> recall(std::uint64_t key);
  Result<void> pushName(const std::string& module, const std::string& name);
  Result<void> pushInteger(std::size_t bytes);

  // Opcodes
  Result<void> protocol();
  Result<void> frame();
  Result<void> mark() { return pushKind(Kind::Mark); }
  Result<void> none() { return pushKind(Kind::None); }
  Result<void> yes() { return pushKind(Kind::Bool, 1); }
  Result<void> no() { return pushKind(Kind::Bool, 0); }
  Result<void> emptyTuple() { return pushKind(Kind::Tuple); }
  Result<void> emptyList() { return pushKind(Kind::List); }
  Result<void> emptyDict() { return pushKind(Kind::Dict); }
  Result<void> tuple();
  Result<void> tuple1() { return pushTuple(1); }
  Result<void> tuple2() { return pushTuple(2); }
  Result<void> tuple3() { return pushTuple(3); }
  Result<void> append();
  Result<void> appends();
  Result<void> setItem();
  Result<void> setItems();
  Result<void> int1();
  Result<void> int2();
  Result<void> int4();
  Result<void> long1();
  Result<void> binFloat();
  Result<void> unicode1() { return text(Kind::String, 1); }
  Result<void> unicode4() { return text(Kind::String, 4); }
  Result<void> unicode8() { return text(Kind::String, 8); }
  Result<void> bytes1() { return text(Kind::Bytes, 1); }
  Result<void> bytes4() { return text(Kind::Bytes, 4); }
  Result<void> put1();
  Result<void> put4();
  Result<void> memoizeNext() { return memoize(m_memo.size()); }
  Result<void> get1();
  Result<void> get4();
  Result<void> global();
  Result<void> stackGlobal();
  Result<void> persistentId();
  Result<void> reduce();
  Result<void> build();
  Result<void> popOne();
  Result<void> stop();

  std::span<const std::byte> m_bytes;
  std::size_t m_at = 0;
  std::size_t m_maxValues;
  Pickle m_pickle;
  std::vector<Index> m_stack;
  std::unordered_map<std::uint64_t, Index> m_memo;
  bool m_stopped = false;
};

const std::array<Machine::Step, 256>& Machine::steps() {
  static const std::array<Step, 256> table = [] {
    const Row rows[] = {{0x80, &Machine::protocol},    {0x95, &Machine::frame},       {'(', &Machine::mark},
                        {'N', &Machine::none},         {0x88, &Machine::yes},         {0x89, &Machine::no},
                        {')', &Machine::emptyTuple},   {']', &Machine::emptyList},    {'}', &Machine::emptyDict},
                        {'t', &Machine::tuple},        {0x85, &Machine::tuple1},      {0x86, &Machine::tuple2},
                        {0x87, &Machine::tuple3},      {'a', &Machine::append},       {'e', &Machine::appends},
                        {'s', &Machine::setItem},      {'u', &Machine::setItems},     {'K', &Machine::int1},
                        {'M', &Machine::int2},         {'J', &Machine::int4},         {0x8a, &Machine::long1},
                        {'G', &Machine::binFloat},     {0x8c, &Machine::unicode1},    {'X', &Machine::unicode4},
                        {0x8d, &Machine::unicode8},    {'C', &Machine::bytes1},       {'B', &Machine::bytes4},
                        {'q', &Machine::put1},         {'r', &Machine::put4},         {0x94, &Machine::memoizeNext},
                        {'h', &Machine::get1},         {'j', &Machine::get4},         {'c', &Machine::global},
                        {0x93, &Machine::stackGlobal}, {'Q', &Machine::persistentId}, {'R', &Machine::reduce},
                        {'b', &Machine::build},        {'0', &Machine::popOne},       {'.', &Machine::stop}};
    std::array<Step, 256> filled{};
    for (const Row& row : rows) filled[row.code] = row.step;
    return filled;
  }();
  return table;
}

Result<std::span<const std::byte>> Machine::take(std::uint64_t count) {
  if (count > m_bytes.size() - m_at) return fail(ErrorCode::BadInput, "the pickle is cut off");
  const auto taken = m_bytes.subspan(m_at, count);
  m_at += count;
  return taken;
}

Result<std::uint64_t> Machine::number(std::size_t bytes) {
  KERF_TRY(const auto taken, take(bytes));
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value |= std::to_integer<std::uint64_t>(taken[i]) << (8 * i);
  return value;
}

Result<std::string> Machine::line() {
  std::string out;
  for (;;) {
    KERF_TRY(const auto taken, take(1));
    const char c = char(taken[0]);
    if (c == '\n') return out;
    out += c;
  }
}

Result<void> Machine::text(Kind kind, std::size_t lengthBytes) {
  KERF_TRY(const std::uint64_t length, number(lengthBytes));
  KERF_TRY(const auto taken, take(length));
  PickleValue value;
  value.kind = kind;
  value.text.assign(reinterpret_cast<const char*>(taken.data()), taken.size());
  KERF_CHECK(push(std::move(value)));
  return {};
}

Result<Index> Machine::push(PickleValue value) {
  if (m_pickle.values.size() >= m_maxValues)
    return fail(ErrorCode::TooLarge, "the pickle holds more than {} values", m_maxValues);
  const auto index = static_cast<Index>(m_pickle.values.size());
  m_pickle.values.push_back(std::move(value));
  m_stack.push_back(index);
  return index;
}

Result<void> Machine::pushKind(Kind kind, std::int64_t integer) {
  PickleValue value;
  value.kind = kind;
  value.integer = integer;
  KERF_CHECK(push(std::move(value)));
  return {};
}

Result<Index> Machine::pop() {
  if (m_stack.empty() || m_pickle.values[m_stack.back()].kind == Kind::Mark)
    return fail(ErrorCode::BadInput, "the pickle takes more values than it has");
  const Index index = m_stack.back();
  m_stack.pop_back();
  return index;
}

Result<PickleValue*> Machine::top(Kind kind) {
  if (m_stack.empty() || m_pickle.values[m_stack.back()].kind != kind)
    return fail(ErrorCode::BadInput, "the pickle adds to something that is not a container");
  return &m_pickle.values[m_stack.back()];
}

Result<std::vector<Index>> Machine::popToMark() {
  std::size_t at = m_stack.size();
  while (at > 0 && m_pickle.values[m_stack[at - 1]].kind != Kind::Mark) --at;
  if (at == 0) return fail(ErrorCode::BadInput, "the pickle closes what it never opened");
  std::vector<Index> items(m_stack.begin() + std::ptrdiff_t(at), m_stack.end());
  m_stack.resize(at - 1);
  return items;
}

Result<void> Machine::pushTuple(std::size_t count) {
  PickleValue value;
  value.kind = Kind::Tuple;
  value.items.resize(count);
  for (std::size_t i = count; i-- > 0;) {
    KERF_TRY(value.items[i], pop());
  }
  KERF_CHECK(push(std::move(value)));
  return {};
}

Result<void> Machine::tuple() {
  PickleValue value;
  value.kind = Kind::Tuple;
  KERF_TRY(value.items, popToMark());
  KERF_CHECK(push(std::move(value)));
  return {};
}

Result<void> Machine::append() {
  KERF_TRY(const Index item, pop());
  KERF_TRY(PickleValue * list, top(Kind::List));
  list->items.push_back(item);
  return {};
}

Result<void> Machine::appends() {
  KERF_TRY(const auto items, popToMark());
  KERF_TRY(PickleValue * list, top(Kind::List));
  list->items.insert(list->items.end(), items.begin(), items.end());
  return {};
}

Result<void> Machine::setItem() {
  KERF_TRY(const Index value, pop());
  KERF_TRY(const Index key, pop());
  KERF_TRY(PickleValue * dict, top(Kind::Dict));
  dict->items.push_back(key);
  dict->items.push_back(value);
  return {};
}

Result<void> Machine::setItems() {
  KERF_TRY(const auto items, popToMark());
  if (items.size() % 2 != 0) return fail(ErrorCode::BadInput, "the pickle gives a dict a key without a value");
  KERF_TRY(PickleValue * dict, top(Kind::Dict));
  dict->items.insert(dict->items.end(), items.begin(), items.end());
  return {};
}

Result<void> Machine::protocol() {
  KERF_TRY(const std::uint64_t version, number(1));
  if (version <= 5) return {};
  return fail(ErrorCode::BadInput, "pickle protocol {} is not known", version);
}

Result<void> Machine::frame() {
  KERF_CHECK(number(8));
  return {};
}

Result<void> Machine::pushInteger(std::size_t bytes) {
  KERF_TRY(const std::uint64_t value, number(bytes));
  return pushKind(Kind::Int, std::int64_t(value));
}

Result<void> Machine::int1() { return pushInteger(1); }
Result<void> Machine::int2() { return pushInteger(2); }

Result<void> Machine::int4() {
  KERF_TRY(const std::uint64_t value, number(4));
  return pushKind(Kind::Int, std::int32_t(std::uint32_t(value)));
}

Result<void> Machine::long1() {
  KERF_TRY(const std::uint64_t length, number(1));
  if (length > 8) return fail(ErrorCode::BadInput, "the pickle holds an integer of more than 64 bits");
  KERF_TRY(std::uint64_t value, number(length));
  if (length > 0 && length < 8 && (value >> (8 * length - 1)) != 0) value |= ~std::uint64_t{0} << (8 * length);
  return pushKind(Kind::Int, std::int64_t(value));
}

Result<void> Machine::binFloat() {
  KERF_TRY(const auto taken, take(8));
  std::uint64_t bits = 0;
  for (const std::byte byte : taken) bits = (bits << 8) | std::to_integer<std::uint64_t>(byte);
  PickleValue value;
  value.kind = Kind::Float;
  value.real = std::bit_cast<double>(bits);
  KERF_CHECK(push(std::move(value)));
  return {};
}

Result<void> Machine::memoize(std::uint64_t key) {
  if (m_stack.empty()) return fail(ErrorCode::BadInput, "the pickle keeps a value that it does not have");
  m_memo[key] = m_stack.back();
  return {};
}

Result<void> Machine::recall(std::uint64_t key) {
  const auto found = m_memo.find(key);
  if (found == m_memo.end()) return fail(ErrorCode::BadInput, "the pickle recalls a value that it never kept");
  m_stack.push_back(found->second);
  return {};
}

Result<void> Machine::put1() {
  KERF_TRY(const std::uint64_t key, number(1));
  return memoize(key);
}

Result<void> Machine::put4() {
  KERF_TRY(const std::uint64_t key, number(4));
  return memoize(key);
}

Result<void> Machine::get1() {
  KERF_TRY(const std::uint64_t key, number(1));
  return recall(key);
}

Result<void> Machine::get4() {
  KERF_TRY(const std::uint64_t key, number(4));
  return recall(key);
}

Result<void> Machine::pushName(const std::string& module, const std::string& name) {
  PickleValue value;
  value.kind = Kind::Name;
  value.text = module + "." + name;
  if (!isKnownPickleName(value.text))
    return fail(ErrorCode::BadInput, "the pickle asks for '{}'; only tensors are read and nothing is run", value.text);
  KERF_CHECK(push(std::move(value)));
  return {};
}

Result<void> Machine::global() {
  KERF_TRY(const std::string module, line());
  KERF_TRY(const std::string name, line());
  return pushName(module, name);
}

Result<void> Machine::stackGlobal() {
  KERF_TRY(const Index name, pop());
  KERF_TRY(const Index module, pop());
  const std::string moduleText = m_pickle.values[module].text, nameText = m_pickle.values[name].text;
  return pushName(moduleText, nameText);
}

Result<void> Machine::persistentId() {
  KERF_TRY(const Index id, pop());
  KERF_TRY(PickleValue storage, storageValue(m_pickle, id));
  KERF_CHECK(push(std::move(storage)));
  return {};
}

Result<void> Machine::reduce() {
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
Result<void> Machine::build() {
  KERF_CHECK(pop());
  if (m_stack.empty()) return fail(ErrorCode::BadInput, "the pickle adds attributes to nothing");
  return {};
}

Result<void> Machine::popOne() {
  if (m_stack.empty()) return fail(ErrorCode::BadInput, "the pickle takes more values than it has");
  m_stack.pop_back();
  return {};
}

Result<void> Machine::stop() {
  KERF_TRY(m_pickle.root, pop());
  m_stopped = true;
  return {};
}

Result<Pickle> Machine::run() {
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

}  // namespace

Result<Pickle> readPickle(std::span<const std::byte> bytes, std::size_t maxValues) {
  return Machine(bytes, maxValues).run();
}

}  // namespace kerf::inline capture::pt2
