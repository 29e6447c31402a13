// Which characters beyond ASCII Python takes in names: ID_Start and ID_Continue of Unicode's annex 31, which are
// general categories and a few characters more. XID_Start and XID_Continue, which Python asks for, leave out some that
// NFKC changes; since a file that Python wrote has names in normal form already, all of those are refused here.
#include "engine/ir/identifier_characters.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <memory>

namespace kerf::inline ir {
namespace {

constexpr std::uint64_t categories(std::initializer_list<utf8proc_category_t> list) {
  std::uint64_t set = 0;
  for (const auto each : list) set |= std::uint64_t(1) << each;
  return set;
}

constexpr std::uint64_t starting = categories({UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LL, UTF8PROC_CATEGORY_LT,
                                               UTF8PROC_CATEGORY_LM, UTF8PROC_CATEGORY_LO, UTF8PROC_CATEGORY_NL});
constexpr std::uint64_t continuing =
    starting | categories({UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_MC, UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_PC});

/// Other_ID_Start and Other_ID_Continue: in names for the sake of older versions, whatever their category.
constexpr std::uint32_t alsoStarting[] = {0x1885, 0x1886, 0x2118, 0x212e};
constexpr std::uint32_t alsoContinuing[] = {0xb7,   0x1369, 0x136a, 0x136b, 0x136c, 0x136d,
                                            0x136e, 0x136f, 0x1370, 0x1371, 0x19da};
constexpr std::uint32_t verticalTilde = 0x2e2f;  ///< a letter by category, but syntax

bool isIn(std::uint64_t set, std::uint32_t code) {
  return (set >> utf8proc_category(utf8proc_int32_t(code)) & 1) != 0 && code != verticalTilde;
}

}  // namespace

bool startsIdentifier(std::uint32_t code) {
  return isIn(starting, code) || std::ranges::find(alsoStarting, code) != std::end(alsoStarting);
}

bool continuesIdentifier(std::uint32_t code) {
  return startsIdentifier(code) || isIn(continuing, code) ||
         std::ranges::find(alsoContinuing, code) != std::end(alsoContinuing);
}

bool isNormalForm(std::string_view name) {
  utf8proc_uint8_t* folded = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(name.data()), utf8proc_ssize_t(name.size()),
                                 &folded, utf8proc_option_t(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT));
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owner(folded, std::free);
  return size >= 0 && name == std::string_view(reinterpret_cast<const char*>(folded), std::size_t(size));
}

}  // namespace kerf::inline ir
