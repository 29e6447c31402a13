// Elementary functions that are written out, where a call of a vector function would put every register of a loop
// aside.
#include "engine/codegen_llvm/scalar_emitter.h"
#include "engine/codegen_llvm/vector_steps.h"

namespace kerf::inline codegen_llvm {

namespace {

/// exp(r) = 1 + r + r²·P(r) for |r| ≤ ln 2 / 2: P by interpolation at Chebyshev's points, 0.17 units in the last place
/// off.
constexpr double expTerms[] = {0.0013926250394433737, 0.00836323294788599, 0.04166655242443085, 0.16666576266288757,
                               0.5};
constexpr double log2E = 1.4426950408889634, ln2High = 0.6931471824645996, ln2Low = -1.904654299957768e-09;
/// erf(x) = x + x·Q(x²) for |x| ≤ 1, and -log(erfc(x)) = T(x) from 0.98 to 4, from where on erf is 1: fitted by
/// weighted least squares, whose weights were raised where the error was largest. 1.1 units in the last place off in
/// all.
constexpr double erfNearTerms[] = {7.889037806307897e-05, -0.0008020817185752094, 0.0051895324140787125,
                                   -0.026854442432522774, 0.11283600330352783,    -0.3761262595653534,
                                   0.12837916612625122};
constexpr double erfFarTerms[] = {2.1644909793394618e-05, -0.00044084462570026517, 0.004202225711196661,
                                  -0.02520240843296051,   0.10841023176908493,     0.6332266926765442,
                                  1.129575490951538,      -0.0001875402667792514};
constexpr double erfIsOne = 4;
/// From here on tanh is 1; 2.5 units in the last place off before.
constexpr double tanhIsOne = 9.5;
/// Beyond these the results are 0 and infinity.
constexpr double expLowest = -104, expHighest = 89;

}  // namespace

/// float32: x = n·ln 2 + r, for |r| ≤ ln 2 / 2.
ScalarEmitter::Power ScalarEmitter::power(llvm::Value* x) {
  const auto number = [&](double value) { return llvm::ConstantFP::get(m_b.getFloatTy(), value); };
  llvm::Value* shifted = fma(x, number(log2E), number(wholeShift));
  llvm::Value* whole = m_b.CreateFSub(shifted, number(wholeShift));
  llvm::Value* r = fma(whole, number(-ln2High), x);
  r = fma(whole, number(-ln2Low), r);
  llvm::Value* growth = fma(m_b.CreateFMul(polynomial(expTerms, r), r), r, r);
  return {growth, shifted};
}

/// 2^n for |n| < 127 times a power of two, whose bits are given: the bits above n fall out.
llvm::Value* ScalarEmitter::scaled(llvm::Value* bits, const Power& power) {
  llvm::Value* whole = m_b.CreateBitCast(power.shifted, m_b.getInt32Ty());
  llvm::Value* sum = m_b.CreateAdd(bits, m_b.CreateShl(whole, 23));
  return m_b.CreateBitCast(sum, m_b.getFloatTy());
}

/// float32: 2^n · exp(r), for x that `wide` says may be anything; else the result must be normal, and of NaN anything
/// comes.
llvm::Value* ScalarEmitter::exponential(llvm::Value* x, bool wide) {
  const auto number = [&](double value) { return llvm::ConstantFP::get(m_b.getFloatTy(), value); };
  if (wide) {
    x = m_b.CreateSelect(m_b.CreateFCmpOLT(x, number(expLowest)), number(expLowest), x);
    x = m_b.CreateSelect(m_b.CreateFCmpOGT(x, number(expHighest)), number(expHighest), x);
  }
  const Power parts = power(x);
  llvm::Value* sum = m_b.CreateFAdd(parts.growth, number(1));
  if (!wide) return scaled(m_b.CreateBitCast(sum, m_b.getInt32Ty()), parts);
  return scaledByPower(m_b, sum, parts.shifted);
}

/// The highest power's factor first.
llvm::Value* ScalarEmitter::polynomial(std::span<const double> terms, llvm::Value* x) {
  llvm::Value* sum = llvm::ConstantFP::get(x->getType(), terms.front());
  for (const double term : terms.subspan(1)) sum = fma(sum, x, llvm::ConstantFP::get(x->getType(), term));
  return sum;
}

/// float32: x + x·Q(x²) below 1, else 1 - exp(-T(|x|)); of both one is taken.
llvm::Value* ScalarEmitter::errorFunction(llvm::Value* x) {
  const auto number = [&](double value) { return llvm::ConstantFP::get(m_b.getFloatTy(), value); };
  llvm::Value* magnitude = m_b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  llvm::Value* near = fma(x, polynomial(erfNearTerms, m_b.CreateFMul(x, x)), x);
  llvm::Value* bounded = m_b.CreateSelect(m_b.CreateFCmpOGT(magnitude, number(erfIsOne)), number(erfIsOne), magnitude);
  llvm::Value* rest = exponential(m_b.CreateFNeg(polynomial(erfFarTerms, bounded)), false);
  llvm::Value* far = m_b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, m_b.CreateFSub(number(1), rest), x);
  return m_b.CreateSelect(m_b.CreateFCmpOGE(magnitude, number(1)), far, near);
}

/// float32: m / (m + 2) of m = exp(2|x|) - 1 = 2^n · (exp(r) - 1) + (2^n - 1); the sign comes back last.
llvm::Value* ScalarEmitter::hyperbolicTangent(llvm::Value* x) {
  const auto number = [&](double value) { return llvm::ConstantFP::get(m_b.getFloatTy(), value); };
  llvm::Value* magnitude = m_b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  llvm::Value* bounded =
      m_b.CreateSelect(m_b.CreateFCmpOGT(magnitude, number(tanhIsOne)), number(tanhIsOne), magnitude);
  const Power parts = power(m_b.CreateFAdd(bounded, bounded));
  llvm::Value* scale = scaled(m_b.CreateBitCast(number(1), m_b.getInt32Ty()), parts);
  llvm::Value* growth = fma(scale, parts.growth, m_b.CreateFSub(scale, number(1)));
  llvm::Value* ratio = m_b.CreateFDiv(growth, m_b.CreateFAdd(growth, number(2)));
  return m_b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, ratio, x);
}

}  // namespace kerf::inline codegen_llvm
