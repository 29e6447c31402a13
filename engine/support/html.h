// HTML of what came from files of strangers: escaped, and on pages that may load and run nothing.
#pragma once

#include <string>
#include <string_view>

namespace kerf::inline support {

/// Without control characters, and with nothing that a browser takes for its own.
std::string htmlText(std::string_view text);

struct HtmlPage {
  std::string title;            ///< plain
  std::string body;             ///< HTML
  std::string_view style = {};  ///< more of it, behind the common one
};
/// A whole page; its security policy forbids everything but its own styles and the links that one clicks.
std::string htmlPage(const HtmlPage& page);

}  // namespace kerf::inline support
