#include "engine/dynamo/frame_writer.h"

#include "engine/dynamo/modes.h"
#include "engine/dynamo/written_code.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace kerf::inline dynamo {
namespace {

constexpr int kCellBit = 0x40;  // of co_localspluskinds
constexpr int kFreeBit = 0x80;

char kindOf(PyCodeObject* code, int slot) { return PyBytes_AS_STRING(code->co_localspluskinds)[slot]; }

Ref tupleOfNames(const std::vector<std::string>& names) {
  Ref tuple = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(names.size())));
  for (std::size_t k = 0; k < names.size(); ++k)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(k), makeText(names[k]).release());
  return tuple;
}

/// Instructions and constants of a code object that is being written.
class CodeBuilder {
 public:
  explicit CodeBuilder(int line) : m_line(line) { m_constants = Ref::steal(PyList_New(0)); }
  void emit(Op op, int arg = 0) { bytecode.instructions.push_back({op, arg, m_line, 0, -1}); }
  void constant(const Ref& value) {
    emit(Op::LOAD_CONST, static_cast<int>(PyList_GET_SIZE(m_constants.get())));
    PyList_Append(m_constants.get(), value.get());
  }
  int addConstant(const Ref& value) {
    PyList_Append(m_constants.get(), value.get());
    return static_cast<int>(PyList_GET_SIZE(m_constants.get())) - 1;
  }
  void callFunction(int count) {
    emit(Op::PRECALL, count);
    emit(Op::CALL, count);
  }
  Ref constants() const { return Ref::steal(PyList_AsTuple(m_constants.get())); }
  Bytecode bytecode;

 private:
  int m_line;
  Ref m_constants;
};

/// Names of locals; scratch places come behind those of the frame, before cells and free variables.
struct Places {
  std::vector<std::string> variables;
  std::vector<std::string> cells;
  std::vector<std::string> frees;

  /// Where CPython puts what `shape` has at `slot`.
  int of(const FrameShape& shape, int slot) const {
    if (slot < shape.locals) return slot;
    return slot - shape.locals + static_cast<int>(variables.size());
  }
  int addScratch() {
    variables.push_back(fmt::format("___scratch{}", variables.size()));
    return static_cast<int>(variables.size()) - 1;
  }
};

Places placesOf(const FrameShape& shape) {
  Places places;
  for (int slot = 0; slot < shape.places; ++slot) {
    if (slot < shape.locals) places.variables.push_back(shape.name(slot));
    // A cell that is an argument too stands among both.
    if (shape.isCell(slot)) places.cells.push_back(shape.name(slot));
    if (shape.isFree(slot)) places.frees.push_back(shape.name(slot));
  }
  return places;
}

/// Prologue of a rewritten frame: its cells and free variables as CPython makes them.
void emitPrologue(CodeBuilder& code, const FrameShape& shape, const Places& places) {
  if (!places.frees.empty()) code.emit(Op::COPY_FREE_VARS, static_cast<int>(places.frees.size()));
  for (int slot = 0; slot < shape.places; ++slot)
    if (shape.isCell(slot)) code.emit(Op::MAKE_CELL, places.of(shape, slot));
  code.emit(Op::RESUME, 0);
}

void emitCompiledCall(CodeBuilder& code, const FrameShape& shape, const Places& places, const Ref& compiled) {
  code.emit(Op::PUSH_NULL);
  code.constant(compiled);
  const std::vector<int> inputs = shape.inputs();
  for (const int slot : inputs)
    code.emit(shape.isHidden(slot) ? Op::LOAD_CLOSURE : Op::LOAD_FAST, places.of(shape, slot));
  code.callFunction(static_cast<int>(inputs.size()));
}

Ref finishCode(const CodeBuilder& code, const FrameShape& shape, const Places& places, const Ref& constants) {
  CodeShape made;
  made.name = textOf(shape.code->co_name);
  made.argCount = shape.arguments;
  made.stackSize = shape.code->co_stacksize + shape.places + static_cast<int>(places.variables.size()) + 16;
  made.flags = (shape.code->co_flags & ~(CO_VARARGS | CO_VARKEYWORDS | CO_GENERATOR)) | CO_OPTIMIZED | CO_NEWLOCALS;
  made.firstLine = shape.code->co_firstlineno;
  made.constants = constants;
  made.names = Ref::borrow(shape.code->co_names);
  made.variables = tupleOfNames(places.variables);
  made.cells = tupleOfNames(places.cells);
  made.frees = tupleOfNames(places.frees);
  made.fileName = Ref::borrow(shape.code->co_filename);
  return assemble(code.bytecode, made);
}

/// Whether super() may be asked in a frame: it looks at the first argument, which stays the first one then.
bool asksFirstArgument(const FrameShape& shape) {
  if (shape.arguments == 0 || shape.isHidden(0)) return false;
  for (int slot = 0; slot < shape.places; ++slot)
    if (shape.isFree(slot) && shape.name(slot) == "__class__") return true;
  return false;
}

/// Whether a resume function gets the first argument before the stack.
bool leadsWithFirst(const FrameShape& shape, const LiveState& live) {
  return asksFirstArgument(shape) && !live.locals.empty() && live.locals.front() == 0;
}

/// The code of a function that goes on at an instruction with a stack and locals as arguments.
Ref resumeCode(const FrameShape& shape, const Bytecode& bytecode, int target, const std::vector<bool>& nulls,
               const LiveState& live) {
  const std::vector<int>& locals = live.locals;
  const int line = bytecode.instructions[static_cast<std::size_t>(target)].line;
  std::vector<std::string> variables;
  std::vector<int> map(static_cast<std::size_t>(shape.places), -1);
  int stackArguments = 0;
  const bool leads = leadsWithFirst(shape, live);
  if (leads) {
    map[0] = 0;
    variables.push_back(shape.name(0));
  }
  for (const bool null : nulls)
    if (!null) variables.push_back(fmt::format("___stack{}", stackArguments++));
  for (const int slot : locals) {
    if (leads && slot == 0) continue;
    map[static_cast<std::size_t>(slot)] = static_cast<int>(variables.size());
    variables.push_back(shape.name(slot));
  }
  const int arguments = static_cast<int>(variables.size());
  for (int slot = 0; slot < shape.locals; ++slot)
    if (map[static_cast<std::size_t>(slot)] < 0 && !shape.isCell(slot)) {
      map[static_cast<std::size_t>(slot)] = static_cast<int>(variables.size());
      variables.push_back(shape.name(slot));
    }
  std::vector<std::string> frees;
  for (int slot = 0; slot < shape.places; ++slot)
    if (shape.isHidden(slot)) {
      map[static_cast<std::size_t>(slot)] = static_cast<int>(variables.size() + frees.size());
      frees.push_back(shape.name(slot));
    }
  CodeBuilder code(line);
  if (!frees.empty()) code.emit(Op::COPY_FREE_VARS, static_cast<int>(frees.size()));
  code.emit(Op::RESUME, 0);
  const auto originals = static_cast<int>(PyTuple_GET_SIZE(shape.code->co_consts));
  for (const int place : live.withs) {
    code.emit(Op::PUSH_NULL);
    code.emit(Op::LOAD_CONST, originals);
    code.emit(Op::LOAD_FAST,
              (leads ? 1 : 0) + static_cast<int>(std::count(nulls.begin(), nulls.begin() + place, false)));
    code.callFunction(1);
    code.emit(Op::POP_TOP);
  }
  int next = leads ? 1 : 0;
  for (const bool null : nulls) code.emit(null ? Op::PUSH_NULL : Op::LOAD_FAST, null ? 0 : next++);
  code.emit(Op::JUMP_FORWARD);
  code.bytecode.instructions.back().target = 0;  // set below
  const int shift = static_cast<int>(code.bytecode.instructions.size());
  code.bytecode.instructions.back().target = shift + target;
  for (Instruction instruction : bytecode.instructions) {
    switch (instruction.op) {
      case Op::LOAD_FAST:
      case Op::STORE_FAST:
      case Op::DELETE_FAST:
      case Op::LOAD_CLOSURE:
      case Op::LOAD_DEREF:
      case Op::STORE_DEREF:
      case Op::DELETE_DEREF:
      case Op::LOAD_CLASSDEREF:
        instruction.arg = map[static_cast<std::size_t>(instruction.arg)];
        break;
      case Op::MAKE_CELL:
      case Op::COPY_FREE_VARS:
      case Op::RETURN_GENERATOR:
        instruction = {Op::NOP, 0, instruction.line, instruction.offset, -1};
        break;
      default:
        break;
    }
    if (instruction.target >= 0) instruction.target += shift;
    code.bytecode.instructions.push_back(instruction);
  }
  for (ExceptionEntry entry : bytecode.handlers) {
    entry.start += shift;
    entry.end += shift;
    entry.target += shift;
    code.bytecode.handlers.push_back(entry);
  }
  CodeShape made;
  made.name = fmt::format("torch_dynamo_resume_in_{}_at_{}", textOf(shape.code->co_name), line);
  if (textOf(shape.code->co_name).starts_with("torch_dynamo_resume_in_")) {
    const std::string name = textOf(shape.code->co_name);
    made.name = fmt::format("{}_at_{}", name.substr(0, name.rfind("_at_")), line);
  }
  made.argCount = arguments;
  made.stackSize = shape.code->co_stacksize + arguments + 8;
  made.flags = (shape.code->co_flags & ~(CO_VARARGS | CO_VARKEYWORDS | CO_GENERATOR)) | CO_OPTIMIZED | CO_NEWLOCALS;
  made.firstLine = line;
  made.constants = Ref::borrow(shape.code->co_consts);
  if (!live.withs.empty()) {
    const Ref more = Ref::steal(PyTuple_Pack(1, enterAgainFunction().get()));
    made.constants = Ref::steal(PySequence_Concat(shape.code->co_consts, more.get()));
  }
  made.names = Ref::borrow(shape.code->co_names);
  made.variables = tupleOfNames(variables);
  made.cells = tupleOfNames({});
  made.frees = tupleOfNames(frees);
  made.fileName = Ref::borrow(shape.code->co_filename);
  return assemble(code.bytecode, made);
}

/// The same function for the same place: a frame that is compiled again goes on in the code that it went on in before.
Ref knownResume(const FrameShape& shape, const Bytecode& bytecode, int target, const std::vector<bool>& nulls,
                const LiveState& live) {
  struct Made {
    Ref frame, resume;
  };
  static std::map<std::tuple<PyCodeObject*, int, std::vector<bool>, std::vector<int>, std::vector<int>>, Made> made;
  Made& known = made[{shape.code, target, nulls, live.locals, live.withs}];
  if (!known.resume)
    known = {Ref::borrow(reinterpret_cast<PyObject*>(shape.code)), resumeCode(shape, bytecode, target, nulls, live)};
  noteResume(known.resume, shape.code, bytecode.instructions.size(), live.isAgreed);
  return known.resume;
}

/// Pushes a resume function, calls it and returns what it gives. Values of the stack lie in scratch places.
bool emitResume(CodeBuilder& code, const FrameShape& shape, const Bytecode& bytecode, const Places& places,
                const LiveState& live, int target, const std::vector<int>& scratch, const std::vector<bool>& nulls,
                std::vector<std::string>& names) {
  const Ref resume = knownResume(shape, bytecode, target, nulls, live);
  if (!resume) return false;
  names.push_back(fmt::format("__resume_at_{}_{}", bytecode.instructions[static_cast<std::size_t>(target)].offset,
                              live.resumeNumber));
  code.emit(Op::PUSH_NULL);
  int cells = 0;
  for (int slot = 0; slot < shape.places; ++slot)
    if (shape.isHidden(slot)) {
      code.emit(Op::LOAD_CLOSURE, places.of(shape, slot));
      ++cells;
    }
  if (cells > 0) code.emit(Op::BUILD_TUPLE, cells);
  code.constant(resume);
  code.emit(Op::MAKE_FUNCTION, cells > 0 ? 8 : 0);
  const bool leads = leadsWithFirst(shape, live);
  int count = leads ? 1 : 0;
  if (leads) code.emit(Op::LOAD_FAST, places.of(shape, 0));
  for (std::size_t k = 0; k < scratch.size(); ++k)
    if (!nulls[k]) {
      code.emit(Op::LOAD_FAST, scratch[k]);
      ++count;
    }
  for (const int slot : live.locals) {
    if (leads && slot == 0) continue;
    code.emit(Op::LOAD_FAST, places.of(shape, slot));
    ++count;
  }
  code.callFunction(count);
  code.emit(Op::RETURN_VALUE);
  return true;
}

/// The breaking instruction again, as it was written.
void emitInstruction(CodeBuilder& code, const Instruction& instruction, const Ref& keywordNames) {
  if (instruction.op == Op::CALL) {
    if (keywordNames) code.emit(Op::KW_NAMES, code.addConstant(keywordNames));
    code.emit(Op::PRECALL, instruction.arg);
  }
  code.emit(instruction.op, instruction.arg);
  code.bytecode.instructions.back().line = instruction.line;
}

/// Enters or leaves the manager of a bound __exit__ that lies in a scratch place.
void emitContextCall(CodeBuilder& code, const Ref& function, int scratch) {
  code.emit(Op::PUSH_NULL);
  code.constant(function);
  code.emit(Op::LOAD_FAST, scratch);
  code.callFunction(1);
  code.emit(Op::POP_TOP);
}

/// The breaking instruction inside its with-blocks, which are left before the frame goes on, also by an exception.
void emitGuarded(CodeBuilder& code, const Instruction& instruction, const Ref& keywordNames, const LiveState& live,
                 const std::vector<int>& scratch) {
  const int start = static_cast<int>(code.bytecode.instructions.size());
  emitInstruction(code, instruction, keywordNames);
  if (live.withs.empty()) return;
  const int end = static_cast<int>(code.bytecode.instructions.size());
  const auto leave = [&] {
    for (std::size_t k = live.withs.size(); k-- > 0;)
      emitContextCall(code, leaveFunction(), scratch[static_cast<std::size_t>(live.withs[k])]);
  };
  leave();
  code.emit(Op::JUMP_FORWARD);
  const std::size_t jump = code.bytecode.instructions.size() - 1;
  const int handler = static_cast<int>(code.bytecode.instructions.size());
  code.emit(Op::PUSH_EXC_INFO);
  leave();
  code.emit(Op::RERAISE, 0);
  code.bytecode.instructions[jump].target = static_cast<int>(code.bytecode.instructions.size());
  code.bytecode.handlers.push_back({start, end, handler, 0, false});
}

Op forwardJump(Op op) {
  switch (op) {
    case Op::POP_JUMP_BACKWARD_IF_TRUE:
    case Op::JUMP_IF_TRUE_OR_POP:
      return Op::POP_JUMP_FORWARD_IF_TRUE;
    case Op::POP_JUMP_BACKWARD_IF_FALSE:
    case Op::JUMP_IF_FALSE_OR_POP:
      return Op::POP_JUMP_FORWARD_IF_FALSE;
    default:
      return op;
  }
}

}  // namespace

FrameShape::FrameShape(PyCodeObject* frame) : code(frame) {
  arguments = frame->co_argcount + frame->co_kwonlyargcount + ((frame->co_flags & CO_VARARGS) != 0 ? 1 : 0) +
              ((frame->co_flags & CO_VARKEYWORDS) != 0 ? 1 : 0);
  locals = frame->co_nlocals;
  places = frame->co_nlocalsplus;
}

bool FrameShape::isCell(int slot) const { return (kindOf(code, slot) & kCellBit) != 0; }
bool FrameShape::isFree(int slot) const { return (kindOf(code, slot) & kFreeBit) != 0; }
std::string FrameShape::name(int slot) const { return textOf(PyTuple_GET_ITEM(code->co_localsplusnames, slot)); }

std::vector<int> FrameShape::inputs() const {
  std::vector<int> slots;
  for (int slot = 0; slot < places; ++slot)
    if (slot < arguments || isHidden(slot)) slots.push_back(slot);
  return slots;
}

std::vector<int> liveLocals(const Bytecode& bytecode, const std::vector<int>& starts, const FrameShape& shape) {
  std::vector<int> live;
  const auto count = bytecode.instructions.size();
  for (int slot = 0; slot < shape.locals; ++slot) {
    if (shape.isHidden(slot)) continue;
    std::vector<bool> seen(count, false);
    std::vector<int> open = starts;
    bool found = slot == 0 && asksFirstArgument(shape);
    while (!open.empty() && !found) {
      const int at = open.back();
      open.pop_back();
      if (at < 0 || static_cast<std::size_t>(at) >= count || seen[static_cast<std::size_t>(at)]) continue;
      seen[static_cast<std::size_t>(at)] = true;
      const Instruction& instruction = bytecode.instructions[static_cast<std::size_t>(at)];
      const bool here = instruction.arg == slot;
      if (here && (instruction.op == Op::LOAD_FAST || instruction.op == Op::DELETE_FAST)) found = true;
      if (here && (instruction.op == Op::STORE_FAST || instruction.op == Op::DELETE_FAST)) continue;
      if (const ExceptionEntry* entry = bytecode.handlerOf(at)) open.push_back(entry->target);
      if (instruction.target >= 0) open.push_back(instruction.target);
      if (!endsBlock(instruction.op)) open.push_back(at + 1);
    }
    if (found) live.push_back(slot);
  }
  return live;
}

int consumedBy(const Instruction& instruction) {
  switch (instruction.op) {
    case Op::CALL:
      return instruction.arg + 2;
    case Op::CALL_FUNCTION_EX:
      return 3 + (instruction.arg & 1);
    case Op::STORE_ATTR:
    case Op::BINARY_SUBSCR:
      return 2;
    case Op::STORE_SUBSCR:
      return 3;
    default:
      return isJump(instruction.op) ? 1 : 0;
  }
}

int producedBy(const Instruction& instruction) {
  return instruction.op == Op::CALL || instruction.op == Op::CALL_FUNCTION_EX || instruction.op == Op::BINARY_SUBSCR
             ? 1
             : 0;
}

Ref writeWholeFrame(const FrameShape& shape, const Ref& compiled) {
  const Places places = placesOf(shape);
  CodeBuilder code(shape.code->co_firstlineno);
  emitPrologue(code, shape, places);
  emitCompiledCall(code, shape, places, compiled);
  code.emit(Op::RETURN_VALUE);
  return finishCode(code, shape, places, code.constants());
}

Ref writePartialFrame(const FrameShape& shape, const Bytecode& bytecode, const Ref& compiled, const LiveState& live,
                      const Ref& keywordNames, std::vector<std::string>& names) {
  Places places = placesOf(shape);
  std::vector<int> scratch;
  for (std::size_t k = 0; k <= live.nulls.size(); ++k) scratch.push_back(places.addScratch());
  const Instruction& instruction = bytecode.instructions[static_cast<std::size_t>(live.index)];
  CodeBuilder code(instruction.line);
  emitPrologue(code, shape, places);
  emitCompiledCall(code, shape, places, compiled);
  std::vector<int> targets;
  for (const int slot : live.locals) targets.push_back(places.of(shape, slot));
  for (std::size_t k = 0; k < live.nulls.size(); ++k)
    if (!live.nulls[k]) targets.push_back(scratch[k]);
  code.emit(Op::UNPACK_SEQUENCE, static_cast<int>(targets.size()));
  for (const int target : targets) code.emit(Op::STORE_FAST, target);

  if (live.isBefore) {
    scratch.pop_back();
    if (!emitResume(code, shape, bytecode, places, live, live.index, scratch, live.nulls, names)) return {};
    return finishCode(code, shape, places, code.constants());
  }
  // A jump asks for the truth of a value, which no mode changes.
  for (const int place : isJump(instruction.op) ? std::vector<int>() : live.withs)
    emitContextCall(code, enterAgainFunction(), scratch[static_cast<std::size_t>(place)]);
  const std::size_t kept = live.nulls.size() - static_cast<std::size_t>(consumedBy(instruction));
  for (std::size_t k = kept; k < live.nulls.size(); ++k)
    code.emit(live.nulls[k] ? Op::PUSH_NULL : Op::LOAD_FAST, live.nulls[k] ? 0 : scratch[k]);
  std::vector<bool> nulls(live.nulls.begin(), live.nulls.begin() + static_cast<std::ptrdiff_t>(kept));
  std::vector<int> stack(scratch.begin(), scratch.begin() + static_cast<std::ptrdiff_t>(kept));
  if (isJump(instruction.op)) {
    const bool keeps = instruction.op == Op::JUMP_IF_TRUE_OR_POP || instruction.op == Op::JUMP_IF_FALSE_OR_POP;
    code.emit(forwardJump(instruction.op));
    const std::size_t jump = code.bytecode.instructions.size() - 1;
    if (!emitResume(code, shape, bytecode, places, live, live.index + 1, stack, nulls, names)) return {};
    code.bytecode.instructions[jump].target = static_cast<int>(code.bytecode.instructions.size());
    if (keeps) {
      stack.push_back(scratch[kept]);
      nulls.push_back(false);
    }
    if (!emitResume(code, shape, bytecode, places, live, instruction.target, stack, nulls, names)) return {};
    return finishCode(code, shape, places, code.constants());
  }
  emitGuarded(code, instruction, keywordNames, live, scratch);
  if (producedBy(instruction) == 1) {
    code.emit(Op::STORE_FAST, scratch.back());
    stack.push_back(scratch.back());
    nulls.push_back(false);
  }
  // PRECALL and CALL are two instructions in the frame as well; the index is that of CALL.
  if (!emitResume(code, shape, bytecode, places, live, live.index + 1, stack, nulls, names)) return {};
  return finishCode(code, shape, places, code.constants());
}

Ref writeLeavingFrame(const FrameShape& shape, const Bytecode& bytecode, const Ref& compiled, const LiveState& live) {
  const Places places = placesOf(shape);
  CodeBuilder code(shape.code->co_firstlineno);
  emitPrologue(code, shape, places);
  emitCompiledCall(code, shape, places, compiled);
  code.emit(Op::UNPACK_SEQUENCE, static_cast<int>(live.locals.size()));
  for (const int slot : live.locals) code.emit(Op::STORE_FAST, places.of(shape, slot));
  code.emit(Op::JUMP_FORWARD);
  const std::size_t jump = code.bytecode.instructions.size() - 1;
  const int shift = static_cast<int>(code.bytecode.instructions.size());
  code.bytecode.instructions[jump].target = shift + live.index;
  const Ref ours = code.constants();
  const int constantShift = static_cast<int>(PyTuple_GET_SIZE(ours.get()));
  for (Instruction instruction : bytecode.instructions) {
    if (instruction.op == Op::LOAD_CONST || instruction.op == Op::KW_NAMES) instruction.arg += constantShift;
    if (instruction.op == Op::MAKE_CELL || instruction.op == Op::COPY_FREE_VARS)
      instruction = {Op::NOP, 0, instruction.line, 0, -1};
    if (instruction.target >= 0) instruction.target += shift;
    code.bytecode.instructions.push_back(instruction);
  }
  for (ExceptionEntry entry : bytecode.handlers) {
    entry.start += shift;
    entry.end += shift;
    entry.target += shift;
    code.bytecode.handlers.push_back(entry);
  }
  return finishCode(code, shape, places, Ref::steal(PySequence_Concat(ours.get(), shape.code->co_consts)));
}

}  // namespace kerf::inline dynamo
