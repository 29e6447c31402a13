#include <unordered_map>

#include "engine/dynamo/bytecode.h"

namespace kerf::inline dynamo {
namespace {

/// Numbers of the exception table: six bits a byte, most significant first.
class VarintReader {
 public:
  VarintReader(const unsigned char* data, Py_ssize_t size) : m_at(data), m_end(data + size) {}
  bool more() const { return m_at < m_end; }
  int next() {
    int value = *m_at & 63;
    while (m_at < m_end && (*m_at++ & 64) != 0 && m_at < m_end) value = (value << 6) | (*m_at & 63);
    return value;
  }

 private:
  const unsigned char* m_at;
  const unsigned char* m_end;
};

int targetUnit(Op op, int arg, int unit) {
  const int next = unit + 1 + inlineCaches(op);
  return jumpsBackward(op) ? next - arg : next + arg;
}

using IndexByUnit = std::vector<int>;

IndexByUnit readInstructions(PyCodeObject* code, const unsigned char* bytes, int units, Bytecode& into) {
  IndexByUnit index(static_cast<std::size_t>(units) + 1, -1);
  int extended = 0;
  int first = 0;
  bool prefixed = false;
  for (int unit = 0; unit < units; ++unit) {
    const auto op = static_cast<Op>(bytes[2 * unit]);
    const int arg = (extended << 8) | bytes[2 * unit + 1];
    if (!prefixed) first = unit;
    if (op == Op::EXTENDED_ARG) {
      extended = arg;
      prefixed = true;
      continue;
    }
    for (int k = first; k <= unit; ++k) index[static_cast<std::size_t>(k)] = static_cast<int>(into.instructions.size());
    into.instructions.push_back({op, arg, PyCode_Addr2Line(code, 2 * unit), 2 * unit, -1});
    if (isJump(op)) into.instructions.back().target = targetUnit(op, arg, unit);
    unit += inlineCaches(op);
    extended = 0;
    prefixed = false;
  }
  index[static_cast<std::size_t>(units)] = static_cast<int>(into.instructions.size());
  for (std::size_t k = index.size(); k-- > 1;)
    if (index[k - 1] < 0) index[k - 1] = index[k];
  return index;
}

void readHandlers(PyCodeObject* code, const IndexByUnit& index, Bytecode& into) {
  VarintReader reader(reinterpret_cast<const unsigned char*>(PyBytes_AS_STRING(code->co_exceptiontable)),
                      PyBytes_GET_SIZE(code->co_exceptiontable));
  const auto at = [&](int unit) { return index[std::min(static_cast<std::size_t>(unit), index.size() - 1)]; };
  while (reader.more()) {
    const int start = reader.next();
    const int length = reader.next();
    const int target = reader.next();
    const int depth = reader.next();
    into.handlers.push_back({at(start), at(start + length), at(target), depth >> 1, (depth & 1) != 0});
  }
}

}  // namespace

const ExceptionEntry* Bytecode::handlerOf(int index) const {
  for (const ExceptionEntry& entry : handlers)
    if (entry.start <= index && index < entry.end) return &entry;
  return nullptr;
}

Bytecode decode(PyCodeObject* code) {
  Bytecode result;
  const Ref bytes = Ref::steal(PyCode_GetCode(code));
  if (!bytes) {
    PyErr_Clear();
    return result;
  }
  const auto* data = reinterpret_cast<const unsigned char*>(PyBytes_AS_STRING(bytes.get()));
  const IndexByUnit index = readInstructions(code, data, static_cast<int>(PyBytes_GET_SIZE(bytes.get()) / 2), result);
  for (Instruction& instruction : result.instructions)
    if (instruction.target >= 0)
      instruction.target = index[std::min(static_cast<std::size_t>(instruction.target), index.size() - 1)];
  readHandlers(code, index, result);
  return result;
}

bool mayHaveBackedge(const Bytecode& bytecode, int from) {
  for (std::size_t k = static_cast<std::size_t>(from); k < bytecode.instructions.size(); ++k) {
    const Instruction& instruction = bytecode.instructions[k];
    if (instruction.target >= 0 && instruction.target < from) return true;
    if (instruction.op == Op::RETURN_VALUE) return false;
  }
  return false;
}

}  // namespace kerf::inline dynamo
