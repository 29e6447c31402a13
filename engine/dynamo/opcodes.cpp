#include "engine/dynamo/opcodes.h"

#include <array>

namespace kerf::inline dynamo {
namespace {

struct OpFacts {
  Op op;
  std::string_view name;
  int caches = 0;
};

constexpr OpFacts kOps[] = {
    {Op::CACHE, "CACHE"},
    {Op::POP_TOP, "POP_TOP"},
    {Op::PUSH_NULL, "PUSH_NULL"},
    {Op::NOP, "NOP"},
    {Op::UNARY_POSITIVE, "UNARY_POSITIVE"},
    {Op::UNARY_NEGATIVE, "UNARY_NEGATIVE"},
    {Op::UNARY_NOT, "UNARY_NOT"},
    {Op::UNARY_INVERT, "UNARY_INVERT"},
    {Op::BINARY_SUBSCR, "BINARY_SUBSCR", 4},
    {Op::GET_LEN, "GET_LEN"},
    {Op::MATCH_MAPPING, "MATCH_MAPPING"},
    {Op::MATCH_SEQUENCE, "MATCH_SEQUENCE"},
    {Op::MATCH_KEYS, "MATCH_KEYS"},
    {Op::PUSH_EXC_INFO, "PUSH_EXC_INFO"},
    {Op::CHECK_EXC_MATCH, "CHECK_EXC_MATCH"},
    {Op::CHECK_EG_MATCH, "CHECK_EG_MATCH"},
    {Op::WITH_EXCEPT_START, "WITH_EXCEPT_START"},
    {Op::GET_AITER, "GET_AITER"},
    {Op::GET_ANEXT, "GET_ANEXT"},
    {Op::BEFORE_ASYNC_WITH, "BEFORE_ASYNC_WITH"},
    {Op::BEFORE_WITH, "BEFORE_WITH"},
    {Op::END_ASYNC_FOR, "END_ASYNC_FOR"},
    {Op::STORE_SUBSCR, "STORE_SUBSCR", 1},
    {Op::DELETE_SUBSCR, "DELETE_SUBSCR"},
    {Op::GET_ITER, "GET_ITER"},
    {Op::GET_YIELD_FROM_ITER, "GET_YIELD_FROM_ITER"},
    {Op::PRINT_EXPR, "PRINT_EXPR"},
    {Op::LOAD_BUILD_CLASS, "LOAD_BUILD_CLASS"},
    {Op::LOAD_ASSERTION_ERROR, "LOAD_ASSERTION_ERROR"},
    {Op::RETURN_GENERATOR, "RETURN_GENERATOR"},
    {Op::LIST_TO_TUPLE, "LIST_TO_TUPLE"},
    {Op::RETURN_VALUE, "RETURN_VALUE"},
    {Op::IMPORT_STAR, "IMPORT_STAR"},
    {Op::SETUP_ANNOTATIONS, "SETUP_ANNOTATIONS"},
    {Op::YIELD_VALUE, "YIELD_VALUE"},
    {Op::ASYNC_GEN_WRAP, "ASYNC_GEN_WRAP"},
    {Op::PREP_RERAISE_STAR, "PREP_RERAISE_STAR"},
    {Op::POP_EXCEPT, "POP_EXCEPT"},
    {Op::STORE_NAME, "STORE_NAME"},
    {Op::DELETE_NAME, "DELETE_NAME"},
    {Op::UNPACK_SEQUENCE, "UNPACK_SEQUENCE", 1},
    {Op::FOR_ITER, "FOR_ITER"},
    {Op::UNPACK_EX, "UNPACK_EX"},
    {Op::STORE_ATTR, "STORE_ATTR", 4},
    {Op::DELETE_ATTR, "DELETE_ATTR"},
    {Op::STORE_GLOBAL, "STORE_GLOBAL"},
    {Op::DELETE_GLOBAL, "DELETE_GLOBAL"},
    {Op::SWAP, "SWAP"},
    {Op::LOAD_CONST, "LOAD_CONST"},
    {Op::LOAD_NAME, "LOAD_NAME"},
    {Op::BUILD_TUPLE, "BUILD_TUPLE"},
    {Op::BUILD_LIST, "BUILD_LIST"},
    {Op::BUILD_SET, "BUILD_SET"},
    {Op::BUILD_MAP, "BUILD_MAP"},
    {Op::LOAD_ATTR, "LOAD_ATTR", 4},
    {Op::COMPARE_OP, "COMPARE_OP", 2},
    {Op::IMPORT_NAME, "IMPORT_NAME"},
    {Op::IMPORT_FROM, "IMPORT_FROM"},
    {Op::JUMP_FORWARD, "JUMP_FORWARD"},
    {Op::JUMP_IF_FALSE_OR_POP, "JUMP_IF_FALSE_OR_POP"},
    {Op::JUMP_IF_TRUE_OR_POP, "JUMP_IF_TRUE_OR_POP"},
    {Op::POP_JUMP_FORWARD_IF_FALSE, "POP_JUMP_FORWARD_IF_FALSE"},
    {Op::POP_JUMP_FORWARD_IF_TRUE, "POP_JUMP_FORWARD_IF_TRUE"},
    {Op::LOAD_GLOBAL, "LOAD_GLOBAL", 5},
    {Op::IS_OP, "IS_OP"},
    {Op::CONTAINS_OP, "CONTAINS_OP"},
    {Op::RERAISE, "RERAISE"},
    {Op::COPY, "COPY"},
    {Op::BINARY_OP, "BINARY_OP", 1},
    {Op::SEND, "SEND"},
    {Op::LOAD_FAST, "LOAD_FAST"},
    {Op::STORE_FAST, "STORE_FAST"},
    {Op::DELETE_FAST, "DELETE_FAST"},
    {Op::POP_JUMP_FORWARD_IF_NOT_NONE, "POP_JUMP_FORWARD_IF_NOT_NONE"},
    {Op::POP_JUMP_FORWARD_IF_NONE, "POP_JUMP_FORWARD_IF_NONE"},
    {Op::RAISE_VARARGS, "RAISE_VARARGS"},
    {Op::GET_AWAITABLE, "GET_AWAITABLE"},
    {Op::MAKE_FUNCTION, "MAKE_FUNCTION"},
    {Op::BUILD_SLICE, "BUILD_SLICE"},
    {Op::JUMP_BACKWARD_NO_INTERRUPT, "JUMP_BACKWARD_NO_INTERRUPT"},
    {Op::MAKE_CELL, "MAKE_CELL"},
    {Op::LOAD_CLOSURE, "LOAD_CLOSURE"},
    {Op::LOAD_DEREF, "LOAD_DEREF"},
    {Op::STORE_DEREF, "STORE_DEREF"},
    {Op::DELETE_DEREF, "DELETE_DEREF"},
    {Op::JUMP_BACKWARD, "JUMP_BACKWARD"},
    {Op::CALL_FUNCTION_EX, "CALL_FUNCTION_EX"},
    {Op::EXTENDED_ARG, "EXTENDED_ARG"},
    {Op::LIST_APPEND, "LIST_APPEND"},
    {Op::SET_ADD, "SET_ADD"},
    {Op::MAP_ADD, "MAP_ADD"},
    {Op::LOAD_CLASSDEREF, "LOAD_CLASSDEREF"},
    {Op::COPY_FREE_VARS, "COPY_FREE_VARS"},
    {Op::RESUME, "RESUME"},
    {Op::MATCH_CLASS, "MATCH_CLASS"},
    {Op::FORMAT_VALUE, "FORMAT_VALUE"},
    {Op::BUILD_CONST_KEY_MAP, "BUILD_CONST_KEY_MAP"},
    {Op::BUILD_STRING, "BUILD_STRING"},
    {Op::LOAD_METHOD, "LOAD_METHOD", 10},
    {Op::LIST_EXTEND, "LIST_EXTEND"},
    {Op::SET_UPDATE, "SET_UPDATE"},
    {Op::DICT_MERGE, "DICT_MERGE"},
    {Op::DICT_UPDATE, "DICT_UPDATE"},
    {Op::PRECALL, "PRECALL", 1},
    {Op::CALL, "CALL", 4},
    {Op::KW_NAMES, "KW_NAMES"},
    {Op::POP_JUMP_BACKWARD_IF_NOT_NONE, "POP_JUMP_BACKWARD_IF_NOT_NONE"},
    {Op::POP_JUMP_BACKWARD_IF_NONE, "POP_JUMP_BACKWARD_IF_NONE"},
    {Op::POP_JUMP_BACKWARD_IF_FALSE, "POP_JUMP_BACKWARD_IF_FALSE"},
    {Op::POP_JUMP_BACKWARD_IF_TRUE, "POP_JUMP_BACKWARD_IF_TRUE"},
};

const std::array<const OpFacts*, 256>& byNumber() {
  static const std::array<const OpFacts*, 256> table = [] {
    std::array<const OpFacts*, 256> made{};
    for (const OpFacts& facts : kOps) made[static_cast<std::size_t>(facts.op)] = &facts;
    return made;
  }();
  return table;
}

const OpFacts* factsOf(Op op) { return byNumber()[static_cast<std::size_t>(op)]; }

}  // namespace

std::string_view opName(Op op) { return factsOf(op) ? factsOf(op)->name : "<no opcode>"; }
int inlineCaches(Op op) { return factsOf(op) ? factsOf(op)->caches : 0; }

bool jumpsBackward(Op op) {
  switch (op) {
    case Op::JUMP_BACKWARD:
    case Op::JUMP_BACKWARD_NO_INTERRUPT:
    case Op::POP_JUMP_BACKWARD_IF_TRUE:
    case Op::POP_JUMP_BACKWARD_IF_FALSE:
    case Op::POP_JUMP_BACKWARD_IF_NONE:
    case Op::POP_JUMP_BACKWARD_IF_NOT_NONE:
      return true;
    default:
      return false;
  }
}

bool jumpsForward(Op op) {
  switch (op) {
    case Op::FOR_ITER:
    case Op::SEND:
    case Op::JUMP_FORWARD:
    case Op::JUMP_IF_FALSE_OR_POP:
    case Op::JUMP_IF_TRUE_OR_POP:
    case Op::POP_JUMP_FORWARD_IF_TRUE:
    case Op::POP_JUMP_FORWARD_IF_FALSE:
    case Op::POP_JUMP_FORWARD_IF_NONE:
    case Op::POP_JUMP_FORWARD_IF_NOT_NONE:
      return true;
    default:
      return false;
  }
}

bool endsBlock(Op op) {
  return op == Op::RETURN_VALUE || op == Op::RAISE_VARARGS || op == Op::RERAISE || op == Op::JUMP_FORWARD ||
         op == Op::JUMP_BACKWARD || op == Op::JUMP_BACKWARD_NO_INTERRUPT;
}

}  // namespace kerf::inline dynamo
