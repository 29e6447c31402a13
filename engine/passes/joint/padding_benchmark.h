// PaddingBenchmark: whether a padded product is faster, by running both on this machine; each product but once.
#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <unordered_map>

#include "engine/passes/joint/padded_product.h"

namespace kerf::inline passes {

class PaddingBenchmark {
 public:
  struct Times {
    double plain = 0, padded = 0;  ///< seconds, the best of several runs
  };
  /// TooLarge for factors and results of more than 64 million elements; else errors of the calls.
  Result<Times> times(const PaddedProduct& product);
  /// Products that are known, here or from the file.
  std::size_t measured() const;
  /// From now on what is measured is kept in `file`, for other processes on this machine, and what they kept there
  /// counts as measured. Lines that are damaged or of another machine are not read; a file that cannot be written costs
  /// the next process a measurement.
  void keepIn(const std::filesystem::path& file);
  /// That of this process.
  static PaddingBenchmark& shared();

 private:
  using Known = std::unordered_map<std::string, Times>;
  void save() const;

  mutable std::mutex m_mutex;
  std::filesystem::path m_file;
  Known m_times;  ///< by op, sizes and dtype
};

}  // namespace kerf::inline passes
