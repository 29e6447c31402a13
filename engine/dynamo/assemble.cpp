#include <string>
#include <vector>

#include "engine/dynamo/bytecode.h"

namespace kerf::inline dynamo {
namespace {

int prefixesFor(int arg) { return arg > 0xFFFFFF ? 3 : arg > 0xFFFF ? 2 : arg > 0xFF ? 1 : 0; }

/// Where each instruction (its prefixes first) lies, in code units; one more entry than instructions.
struct CodeLayout {
  std::vector<int> start;
  std::vector<int> args;
};

int jumpArgument(const Instruction& instruction, const CodeLayout& layout, std::size_t index) {
  const int next = layout.start[index + 1];
  const int target = layout.start[static_cast<std::size_t>(instruction.target)];
  return jumpsBackward(instruction.op) ? next - target : target - next;
}

/// One round: sizes from arguments, then arguments of jumps from the sizes. True when nothing changed.
bool settle(const std::vector<Instruction>& code, CodeLayout& layout) {
  int at = 0;
  for (std::size_t k = 0; k < code.size(); ++k) {
    layout.start[k] = at;
    at += prefixesFor(layout.args[k]) + 1 + inlineCaches(code[k].op);
  }
  layout.start[code.size()] = at;
  bool settled = true;
  for (std::size_t k = 0; k < code.size(); ++k) {
    if (code[k].target < 0) continue;
    const int arg = std::max(jumpArgument(code[k], layout, k), 0);
    // Arguments only grow, so that this ends.
    if (prefixesFor(arg) > prefixesFor(layout.args[k])) settled = false;
    layout.args[k] = prefixesFor(arg) < prefixesFor(layout.args[k]) ? layout.args[k] : arg;
  }
  return settled;
}

CodeLayout layOut(const std::vector<Instruction>& code) {
  CodeLayout layout;
  layout.start.resize(code.size() + 1);
  for (const Instruction& instruction : code) layout.args.push_back(instruction.target < 0 ? instruction.arg : 0);
  while (!settle(code, layout)) {
  }
  return layout;
}

std::string codeBytes(const std::vector<Instruction>& code, const CodeLayout& layout) {
  std::string bytes;
  for (std::size_t k = 0; k < code.size(); ++k) {
    const int size = layout.start[k + 1] - layout.start[k];
    const int prefixes = size - 1 - inlineCaches(code[k].op);
    const int arg = code[k].target < 0 ? code[k].arg : std::max(jumpArgument(code[k], layout, k), 0);
    for (int p = prefixes; p > 0; --p) {
      bytes.push_back(static_cast<char>(Op::EXTENDED_ARG));
      bytes.push_back(static_cast<char>((arg >> (8 * p)) & 0xFF));
    }
    bytes.push_back(static_cast<char>(code[k].op));
    bytes.push_back(static_cast<char>(arg & 0xFF));
    bytes.append(static_cast<std::size_t>(2 * inlineCaches(code[k].op)), '\0');
  }
  return bytes;
}

void appendVarint(std::string& out, int value) {
  while (value >= 64) {
    out.push_back(static_cast<char>(0x40 | (value & 63)));
    value >>= 6;
  }
  out.push_back(static_cast<char>(value));
}

/// A line and no columns for each instruction (entry kind 13), in runs of at most eight code units.
std::string lineTable(const std::vector<Instruction>& code, const CodeLayout& layout, int firstLine) {
  std::string table;
  int line = firstLine;
  for (std::size_t k = 0; k < code.size(); ++k) {
    for (int left = layout.start[k + 1] - layout.start[k]; left > 0;) {
      const int units = std::min(left, 8);
      const int here = code[k].line > 0 ? code[k].line : line;
      const int delta = here - line;
      table.push_back(static_cast<char>(0x80 | (13 << 3) | (units - 1)));
      appendVarint(table, delta < 0 ? ((-delta) << 1) | 1 : delta << 1);
      line = here;
      left -= units;
    }
  }
  return table;
}

void appendTableNumber(std::string& out, int value, bool first) {
  const int mark = first ? 0x80 : 0;
  int shift = 24;
  while (shift > 0 && (value >> shift) == 0) shift -= 6;
  bool marked = false;
  for (; shift >= 0; shift -= 6) {
    const int more = shift > 0 ? 0x40 : 0;
    out.push_back(static_cast<char>(((value >> shift) & 63) | more | (marked ? 0 : mark)));
    marked = true;
  }
}

std::string exceptionTable(const Bytecode& bytecode, const CodeLayout& layout) {
  std::string table;
  for (const ExceptionEntry& entry : bytecode.handlers) {
    const int start = layout.start[static_cast<std::size_t>(entry.start)];
    appendTableNumber(table, start, true);
    appendTableNumber(table, layout.start[static_cast<std::size_t>(entry.end)] - start, false);
    appendTableNumber(table, layout.start[static_cast<std::size_t>(entry.target)], false);
    appendTableNumber(table, (entry.depth << 1) | (entry.lasti ? 1 : 0), false);
  }
  return table;
}

Ref bytesOf(const std::string& text) {
  return Ref::steal(PyBytes_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}

}  // namespace

Ref assemble(const Bytecode& bytecode, const CodeShape& shape) {
  const CodeLayout layout = layOut(bytecode.instructions);
  const Ref code = bytesOf(codeBytes(bytecode.instructions, layout));
  const Ref lines = bytesOf(lineTable(bytecode.instructions, layout, shape.firstLine));
  const Ref handlers = bytesOf(exceptionTable(bytecode, layout));
  const Ref name = makeText(shape.name);
  if (!code || !lines || !handlers || !name) return {};
  return Ref::steal(reinterpret_cast<PyObject*>(PyCode_NewWithPosOnlyArgs(
      shape.argCount, 0, 0, static_cast<int>(PyTuple_GET_SIZE(shape.variables.get())), shape.stackSize, shape.flags,
      code.get(), shape.constants.get(), shape.names.get(), shape.variables.get(), shape.frees.get(), shape.cells.get(),
      shape.fileName.get(), name.get(), name.get(), shape.firstLine, lines.get(), handlers.get())));
}

}  // namespace kerf::inline dynamo
