// Loop IR: one kernel as a loop nest, a graph of scalar expressions, and stores. Sizes that are expressions of symbols
// are parameters: generated code is given their values.
//
//   before: mul = aten.mul(x, y); sum = aten.sum(mul, [1])
//   after:  for i0 < 4: for i1 < 8 (reduced): t = load x[8*i0 + i1] * load y[…]; store sum[i0] = reduce add t
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/loops/affine.h"
#include "engine/tensor/dtype.h"

namespace kerf::inline loops {

enum class ExprOp : std::uint8_t {
  Load,
  LoadWhere,
  LoadAt,
  Constant,
  Index,
  Carry,
  Convert,
  // one operand
  Neg,
  Abs,
  Exp,
  Exp2,
  Expm1,
  Log,
  Log2,
  Log10,
  Log1p,
  Sqrt,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Tanh,
  Asinh,
  Acosh,
  Atanh,
  Erf,
  Erfc,
  Floor,
  Ceil,
  Trunc,
  RoundEven,
  Not,
  IsNan,
  // two operands
  Add,
  Sub,
  Mul,
  Div,
  Fmod,
  Pow,
  Atan2,
  Hypot,
  Philox,
  CopySign,
  Maximum,
  Minimum,
  And,
  Or,
  Xor,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  // three operands
  Select,
  Fma,
  // over the reduced loop variables; the operand is an element, the result one value per outer iteration
  ReduceSum,
  ReduceProd,
  ReduceMax,
  ReduceMin,
  ReduceAny,
  ReduceAll,
};

struct ExprOpInfo {
  ExprOp op;
  std::string_view name;
  std::uint8_t arity;
  std::uint8_t cost;  ///< in additions, about: what recomputing it costs
};
const ExprOpInfo& exprOpInfo(ExprOp op);
inline bool isReduction(ExprOp op) { return op >= ExprOp::ReduceSum; }

/// LoadWhere reads memory where its operand, a Bool, holds, and is 0 elsewhere; LoadAt adds its operand, an Int64
/// within the buffer, to the index.
inline bool isLoad(ExprOp op) { return op <= ExprOp::LoadAt; }

/// Carry: what the expression `integer` was in the iteration before of the one reduced loop, and the operand, which no
/// element takes part in, in the first. That expression may come later, and is no reduction.
///
/// Philox: an Int32 word of Philox-4x32-10 with an Int64 key and the low half of an Int64 as its counter.
///
/// One scalar value. Float16 and BFloat16 never appear as `dtype` of arithmetic: only Load gives and Convert makes them
/// (a rounded value), and stores take them. Comparisons give Bool.
struct Expr {
  ExprOp op = ExprOp::Constant;
  DType dtype = DType::Float32;
  std::array<int, 3> args{-1, -1, -1};  ///< earlier expressions of the kernel
  double real = 0;                      ///< Constant of a float dtype
  std::int64_t integer = 0;             ///< Constant of an integer or bool dtype; which word, of Philox; next, of Carry
  int buffer = -1;                      ///< loads
  Affine index;                         ///< loads (elements of the buffer), Index (the value itself)
  bool operator==(const Expr&) const = default;
};

struct LoopVariable {
  SymInt size = 1;
  bool reduced = false;
  bool serial = false;  ///< iterations may write to one place: they follow one another
  bool operator==(const LoopVariable& other) const {
    return reduced == other.reduced && serial == other.serial && sameSize(size, other.size);
  }
};

/// A store to element `index`, plus `place` where that is an Int64 expression; inside the reduced loops when `inner`. In
/// each iteration all values are computed before anything is stored.
struct LoopStore {
  int buffer = -1;
  Affine index;
  int value = -1;
  bool inner = true;
  int place = -1;
  bool operator==(const LoopStore&) const = default;
};

struct LoopBuffer {
  DType dtype = DType::Float32;
  std::string name;  ///< of the FX node whose value it holds; not part of the structure
};

/// Loops run in the order of `variables`; reduced ones lie inside the others whatever their position.
struct LoopKernel {
  std::string name;
  std::vector<LoopVariable> variables;
  std::vector<LoopBuffer> buffers;
  std::vector<Expr> exprs;
  std::vector<LoopStore> stores;
  SymSizes parameters;  ///< every expression among the sizes, coefficients and constants, once

  SymSizes variableSizes() const;
  bool hasReduction() const;
  /// Whether a store's place is computed. Such a kernel has no reduced loops, and each place is written by iterations of
  /// its serial loops alone.
  bool writesAtPlaces() const;
};

/// How many of the first loops are divided among threads as one: 2 where the first alone is short (a batch), inner
/// loops remain, and no access is contiguous along either, or along the second where only reduced loops are inside of
/// it; else 1, or 0 without such a loop. Of a kernel that writes at places, the first loop that is not serial.
std::size_t dividedLoops(const LoopKernel& kernel);
/// The first of them: 0, or, of a kernel that writes at places, the first loop that is not serial.
std::size_t firstDividedLoop(const LoopKernel& kernel);

/// How a large reduction to single values, or to few columns, is divided among threads: pieces of `chunk` iterations of one
/// of its loops, of which each gives a part of every reduction. The same pieces on every machine.
struct SharedReduction {
  std::size_t variable = 0;
  std::int64_t chunk = 0, pieces = 0;
  int reductions = 0;
  std::optional<std::size_t> column;  ///< the loop over the columns
  std::int64_t columns = 1;
};
/// None where a value is carried, two loops are not reduced, a size is an expression, there are few elements, or one
/// reduction needs another.
std::optional<SharedReduction> sharedReduction(const LoopKernel& kernel);

/// Fills `parameters`, after putting in what guards have settled.
void collectParameters(LoopKernel& kernel);

/// Text of a kernel for people; in the scope of the ShapeEnv where there are parameters.
std::string printLoopIr(const LoopKernel& kernel);
/// Equal for kernels that generate the same code: everything but names and the values of parameters.
std::string structuralKey(const LoopKernel& kernel);

/// Where each expression lives: 0 constant, 1 per outer iteration, 2 per element; and after how many reductions in a
/// row its value is known.
struct ExprPlacement {
  std::vector<std::uint8_t> level;
  std::vector<int> phase;
};
ExprPlacement placeExpressions(const LoopKernel& kernel);

}  // namespace kerf::inline loops
