// Code objects as lists of instructions, and lists of instructions as code objects: what rewriting a frame needs.
#pragma once

#include <string>
#include <vector>

#include "engine/dynamo/opcodes.h"
#include "engine/python/reference.h"

namespace kerf::inline dynamo {

/// One instruction. Prefixes for large arguments and inline caches are not among them: assembling makes them again.
struct Instruction {
  Op op = Op::NOP;
  int arg = 0;
  int line = 0;
  int offset = 0;   ///< in bytes, in the code it came from
  int target = -1;  ///< of a jump: index of an instruction
};

/// Instructions [start, end) are covered by the handler at `target`, which finds `depth` values on the stack.
struct ExceptionEntry {
  int start = 0;
  int end = 0;
  int target = 0;
  int depth = 0;
  bool lasti = false;
};

struct Bytecode {
  std::vector<Instruction> instructions;
  std::vector<ExceptionEntry> handlers;
  /// The innermost handler that covers an instruction; null where none does.
  const ExceptionEntry* handlerOf(int index) const;
};

/// Reads a code object of CPython 3.11; specialised instructions as they were before.
Bytecode decode(PyCodeObject* code);

/// Whether a jump from an instruction on to the first return goes to before it: it may be in a loop.
bool mayHaveBackedge(const Bytecode& bytecode, int from);

/// What a new code object has besides its instructions.
struct CodeShape {
  std::string name;
  int argCount = 0;
  int stackSize = 0;
  int flags = 0;
  int firstLine = 0;
  Ref constants;  ///< tuples
  Ref names;
  Ref variables;  ///< locals that are no cells of other functions, arguments first
  Ref cells;
  Ref frees;
  Ref fileName;
};

/// The code object; null with a Python exception set where CPython refuses it.
Ref assemble(const Bytecode& bytecode, const CodeShape& shape);

}  // namespace kerf::inline dynamo
