// CppExpressions: what expressions of C++ kernels stand for: casts, vectors, lambdas, calls.
#pragma once

#include "engine/audit/kernels/cpp_vectors.h"

namespace kerf::inline audit {

/// "at::vec::Vectorized<float>::loadu" → "float"
std::string templateType(std::string_view name);

class CppExpressions : public CppVectors {
 protected:
  using CppVectors::CppVectors;

  virtual void block(const SyntaxNode& node) = 0;
  /// Nothing of the kernel is known from there on.
  virtual void opaque(const SyntaxNode& node, std::string_view why) = 0;
  virtual void accumulatorType(std::string_view name, const std::string& type, int line, bool isDeclared) = 0;

  KernelValue evaluate(const SyntaxNode& node) override;
  KernelValue indexOf(const SyntaxNode& item);

  KernelValue m_returned;  ///< by the lambda that runs

 private:
  KernelValue unary(const SyntaxNode& node);
  /// c ? a : b, where loads of a happen under c only.
  KernelValue choice(const SyntaxNode& node);
  KernelValue run(const SyntaxNode& lambda);
  KernelValue call(const SyntaxNode& node);
  static bool isCast(std::string_view name);
  KernelValue castTo(const std::string& name, KernelValue value);
  KernelValue pair(const SyntaxNode& node, TermOp op);
  /// A function that only computes; what it is given pointers to may be used in any way.
  KernelValue other(const SyntaxNode& node, const std::string& name);
  KernelValue method(const SyntaxNode& node, const SyntaxNode& callee);

  int m_calls = 0, m_callDepth = 0;
};

}  // namespace kerf::inline audit
