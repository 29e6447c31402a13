// The tables of resources/docs/third-parties.md: libraries, how each is used, under which licence, and what is allowed.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace kerf::licences {

struct ThirdParty {
  std::string name;
  std::vector<std::string> files;     ///< "libz", "libxcb-*", "boost/", names in CMake
  std::vector<std::string> packages;  ///< of Debian
  std::set<std::string> uses;         ///< "dynamic", "static", "headers", "loaded", "program", "tests"
  std::string licence;                ///< an SPDX expression
};

class ThirdParties {
 public:
  explicit ThirdParties(const std::string& page);

  const std::vector<ThirdParty>& rows() const { return m_rows; }
  /// The row that lists `file`; null where there is none.
  const ThirdParty* find(const std::string& file) const;
  const ThirdParty* findPackage(const std::string& package) const;

  /// What is wrong with a library that is used in this way; empty where nothing is.
  std::string objection(const std::string& file, const std::string& use) const;
  /// Whether a licence expression allows the use: one side of OR, both sides of AND.
  bool allows(const std::string& licence, const std::string& use) const;
  /// Words of the block ```plugins: files below the folder of Qt's plugins.
  const std::vector<std::string>& plugins() const { return m_plugins; }
  /// What is allowed wherever it is, and what is allowed where the library can be replaced.
  const std::set<std::string>& everywhere() const { return m_everywhere; }
  const std::set<std::string>& replaceable() const { return m_replaceable; }

 private:
  std::vector<ThirdParty> m_rows;
  std::vector<std::string> m_plugins;
  std::set<std::string> m_everywhere, m_replaceable;
};

}  // namespace kerf::licences
