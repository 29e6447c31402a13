#include "engine/support/html.h"

#include <fmt/format.h>

#include "engine/support/printable.h"

namespace kerf::inline support {

namespace {

constexpr std::string_view commonStyle =
    "body{font:15px/1.45 system-ui,sans-serif;max-width:75em;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #ddd;padding:.3em .6em;text-align:left;"
    "vertical-align:top;overflow-wrap:anywhere}code,pre{font:13px/1.4 ui-monospace,monospace}"
    "pre{background:#f6f6f6;padding:.8em;overflow:auto}.bad{color:#a40000}.dim{color:#777}";

}  // namespace

std::string htmlText(std::string_view text) {
  std::string out;
  for (const char c : printableText(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string htmlPage(const HtmlPage& page) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'\"><meta name=\"referrer\" content=\"no-referrer\">"
      "<title>{}</title><style>{}{}</style></head><body>\n{}</body></html>\n",
      htmlText(page.title), commonStyle, page.style, page.body);
}

}  // namespace kerf::inline support
