// PickleMachine: what a pickle's opcodes do, as Python's pickletools documents them; only those that move data exist.
#pragma once

#include <array>
#include <unordered_map>

#include "engine/capture/pt2/pickle.h"

namespace kerf::inline capture::pt2 {

class PickleMachine {
 public:
  PickleMachine(std::span<const std::byte> bytes, std::size_t maxValues) : m_bytes(bytes), m_maxValues(maxValues) {}

  Result<Pickle> run();

 private:
  using Step = Result<void> (PickleMachine::*)();
  struct Row {
    unsigned char code;
    Step step;
  };
  static const std::array<Step, 256>& steps();

  using Index = std::uint32_t;
  using Kind = PickleValue::Kind;

  // Reading
  Result<std::span<const std::byte>> take(std::uint64_t count);
  Result<std::uint64_t> number(std::size_t bytes);
  Result<std::string> line();
  Result<void> text(Kind kind, std::size_t lengthBytes);
  Result<std::uint64_t> lineKey();

  // Stack
  Result<Index> push(PickleValue value);
  Result<void> pushAgain(Index index);
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
  Result<void> string1() { return text(Kind::String, 1); }
  Result<void> string4() { return text(Kind::String, 4); }
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
  Result<void> popMark();
  Result<void> dup();
  Result<void> stop();

  // Opcodes of protocol 0, whose arguments are lines of text
  Result<void> intLine();
  Result<void> longLine();
  Result<void> floatLine();
  Result<void> stringLine();
  Result<void> unicodeLine();
  Result<void> putLine();
  Result<void> getLine();
  Result<void> list();
  Result<void> dict();

  std::span<const std::byte> m_bytes;
  std::size_t m_at = 0;
  std::size_t m_maxValues;
  Pickle m_pickle;
  std::vector<Index> m_stack;
  std::unordered_map<std::uint64_t, Index> m_memo;
  bool m_stopped = false;
};

}  // namespace kerf::inline capture::pt2
