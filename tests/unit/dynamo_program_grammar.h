// Python programs from a grammar: functions over tensors, numbers, containers and an object, the same ones for a seed.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace kerf {

/// The text of a module that defines `f(x, y, n, s, flag, key, xs, d, o)`.
class ProgramGrammar {
 public:
  explicit ProgramGrammar(unsigned seed) : m_random(seed) {}
  std::string program();

 private:
  using Texts = std::vector<std::string>;
  std::size_t below(std::size_t count);
  bool chance(int percent) { return below(100) < static_cast<std::size_t>(percent); }
  /// One of several texts, with each `$T`, `$I`, `$F`, `$B` in it made anew: an expression of that type.
  std::string filled(const std::string& pattern, int depth);
  std::string oneOf(const Texts& patterns, int depth);
  std::string expression(char type, int depth);
  std::string newTensor();
  std::string block(int indent, int statements);
  std::string statement(int indent);
  std::string nested(int indent);

  std::mt19937 m_random;
  Texts m_tensors;
  int m_names = 0;
  int m_depth = 0;
};

}  // namespace kerf
