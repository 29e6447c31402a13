// Tables of a trace as HTML, with links to the pages of compile ids and records.
#pragma once

#include "app/workbench/logs/log_pages.h"
#include "engine/support/html.h"

namespace kerf::workbench {

inline constexpr std::string_view reportStyle =
    ":root{color-scheme:light dark}body{max-width:100em}h2{margin-top:2em}nav a{margin-right:1em}"
    "th{position:sticky;top:0;background:Canvas}td{font-size:13px}td,th{border-color:#8884}pre{background:#8881}"
    "td.num{text-align:right;font-variant-numeric:tabular-nums}td.code{font:12px/1.4 "
    "ui-monospace,monospace;white-space:pre-wrap}"
    ".answer li{margin:.3em 0}.problem{color:#b00020;font-weight:600}.note{color:#8a5a00}.scroll{overflow-x:auto}"
    ".tree{font:12px/1.5 ui-monospace,monospace;white-space:pre-wrap}.lines "
    "i{display:inline-block;width:4em;color:#888;"
    "font-style:normal;user-select:none}:target{background:#fd06}details summary{cursor:pointer;color:#777}"
    "body{color:CanvasText}a{color:LinkText}";

/// `up` leads from the page to the report's folder: "" or "../". `rows` are the numbers of those shown.
std::string tableHtml(const LogPages& pages, const LogTable& table, const std::vector<std::size_t>& rows,
                      std::string_view up);
/// "[0/1]" as a link to its page.
std::string compileLink(const LogPages& pages, std::size_t compile, std::string_view up);
/// Kernels of one compilation with the lines of graphs and code that they come from.
std::string kernelsHtml(const LogPages& pages, std::size_t compile);
/// The longest events as bars, by rank and thread; empty without events.
std::string timelineHtml(const LogView& view);

}  // namespace kerf::workbench
