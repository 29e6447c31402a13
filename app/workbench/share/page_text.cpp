#include "app/workbench/share/page_text.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "app/workbench/captures/capture_index.h"
#include "app/workbench/captures/shared_page.h"
#include "app/workbench/export/render.h"
#include "engine/capture/import_all.h"
#include "engine/support/digest.h"
#include "engine/support/html.h"

namespace kerf::workbench {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t mostGraphs = 200;       ///< whose text is in the page
constexpr std::size_t mostText = 16 << 20;    ///< bytes of all texts that are shown
constexpr std::size_t longestText = 400'000;  ///< of one
constexpr std::string_view style =
    ":root{color-scheme:light dark}body{font:15px/1.45 system-ui,sans-serif;max-width:80em;margin:2em auto;padding:0 "
    "1em}"
    "table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #8884;padding:.3em "
    ".6em;text-align:left;vertical-align:top;"
    "overflow-wrap:anywhere}pre{font:13px/1.4 "
    "ui-monospace,monospace;background:#8881;padding:.8em;overflow:auto;white-space:pre-wrap}"
    "summary{cursor:pointer}button,input{font:inherit;padding:.2em "
    ".6em;margin-right:.6em}.dim{color:#888}.bad{color:#b00020}";
constexpr std::string_view script =
    "'use strict';const all=q=>[...document.querySelectorAll(q)];"
    "document.getElementById('find').addEventListener('input',e=>{const t=e.target.value.toLowerCase();"
    "all('.item').forEach(i=>{i.hidden=t!==''&&!i.textContent.toLowerCase().includes(t)})});"
    "document.getElementById('open').addEventListener('click',()=>{const d=all('details');const o=d.some(x=>!x.open);"
    "d.forEach(x=>{x.open=o})});"
    "document.getElementById('save').addEventListener('click',()=>{const "
    "b=atob(document.getElementById('kerf-data').textContent.trim());"
    "const u=new Uint8Array(b.length);for(let i=0;i<b.length;i++)u[i]=b.charCodeAt(i);const "
    "a=document.createElement('a');"
    "a.href=URL.createObjectURL(new Blob([u],{type:'application/zip'}));a.download='kerf-data.zip';a.click();"
    "document.getElementById('saved').textContent=u.length+' bytes'});";

/// What is shown of all texts together has a limit.
class Room {
 public:
  std::string shown(std::string_view text) {
    const std::size_t most = std::min(longestText, m_left);
    const std::string_view part = text.substr(0, most);
    m_left -= part.size();
    return htmlText(part) + (part.size() < text.size() ? fmt::format("\n\xE2\x80\xA6 {} more bytes are in the data",
                                                                     text.size() - part.size())
                                                       : "");
  }

 private:
  std::size_t m_left = mostText;
};

std::string item(std::string_view title, std::string_view detail, std::string_view text) {
  return fmt::format(
      "<details class=\"item\"><summary>{} <span class=\"dim\">{}</span></summary><pre>{}</pre></details>\n",
      htmlText(title), htmlText(detail), text);
}

std::string graphItem(CapturedGraph graph, Room& room, std::size_t number, const Job& job) {
  const std::string where = fmt::format("{} {}", graph.origin.stage, graph.origin.compileId);
  if (number >= mostGraphs) return item(graph.name, where, "not shown: there are many graphs");
  if (auto loaded = graph.ensureLoaded(); !loaded) return item(graph.name, where, htmlText(loaded.error().text()));
  const auto text = renderGraph(graph, "readable", job);
  return item(graph.name, fmt::format("{} {} nodes", where, graph.module.graph.size()),
              room.shown(text ? *text : text.error().text()));
}

std::string compileRows(const Capture& capture) {
  if (!capture.details || capture.details->compiles.empty()) return {};
  std::string rows =
      "<h2>Compilations</h2>\n<table><tr><th>id</th><th>frame</th><th>status</th><th>failure</th></tr>\n";
  for (const auto& compile : capture.details->compiles)
    rows += fmt::format("<tr class=\"item\"><td>{}</td><td>{}</td><td>{}</td><td class=\"bad\">{}</td></tr>\n",
                        htmlText(compile.id), htmlText(compile.frame), htmlText(compileStatusName(compile.status)),
                        htmlText(compile.failure.substr(0, 2000)));
  return rows + "</table>\n";
}

std::string captureHtml(const Capture& capture, const fs::path& folder, Room& room, const Job& job) {
  const fs::path below = capture.path.lexically_relative(folder);
  std::string html =
      fmt::format("<h2>{} <span class=\"dim\">{} {}</span></h2>\n", htmlText(below.string()), htmlText(capture.kind),
                  htmlText(capture.torchVersion.empty() ? "" : "PyTorch " + capture.torchVersion));
  for (const auto& note : capture.notes) html += fmt::format("<p class=\"dim\">{}</p>\n", htmlText(note));
  for (std::size_t i = 0; i < capture.graphs.size(); ++i) html += graphItem(capture.graphs[i], room, i, job);
  return html + compileRows(capture);
}

std::string filesHtml(const StagedFiles& staged, Room& room) {
  std::string html = "<h2>Files</h2>\n";
  for (const auto& name : staged.names) {
    std::ifstream file(staged.folder.path() / name, std::ios::binary);
    std::ostringstream stream;
    stream << file.rdbuf();
    const std::string text = std::move(stream).str();
    const bool isText = !text.substr(0, 4096).contains('\0');
    html += item(name, fmt::format("{} bytes", text.size()),
                 isText ? room.shown(text) : "bytes of numbers; they are in the data");
  }
  return html;
}

std::string policy() {
  return fmt::format(
      "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
      base64(sha256Bytes(style)), base64(sha256Bytes(script)));
}

std::string headHtml(const StagedFiles& staged, const std::string& title, const PageText& page) {
  std::string html = fmt::format(
      "<h1>{}</h1>\n<p>{} captures, {} graphs, {} files. This page loads nothing and holds its data: <code>kerf show "
      "PAGE</code> or "
      "<code>kerf import PAGE</code> opens it again.</p>\n<p><input id=\"find\" placeholder=\"find\"><button "
      "id=\"open\">open or close "
      "all</button><button id=\"save\">save the data</button><span id=\"saved\" class=\"dim\"></span></p>\n",
      htmlText(title), page.captures, page.graphs, staged.names.size());
  for (const auto& row : staged.removed) html += fmt::format("<p class=\"dim\">taken out: {}</p>\n", htmlText(row));
  for (const auto* rows : {&staged.notes, &page.notes})
    for (const auto& row : *rows) html += fmt::format("<p class=\"dim\">{}</p>\n", htmlText(row));
  return html;
}

}  // namespace

Result<PageText> pageText(const StagedFiles& staged, const std::string& title, std::string_view archive,
                          const Job& job) {
  PageText page;
  Room room;
  std::string body;
  const auto captures = importAll(staged.folder.path());
  if (!captures) page.notes.push_back("no capture is among the files: " + captures.error().text());
  if (captures)
    for (const auto& capture : *captures) {
      if (!job.progress("writing the page", double(page.captures) / double(captures->size())))
        return fail(ErrorCode::Cancelled, "stopped");
      body += captureHtml(capture, staged.folder.path(), room, job);
      ++page.captures, page.graphs += std::ssize(capture.graphs);
    }
  body += filesHtml(staged, room);
  page.html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" "
      "content=\"{}\">"
      "<meta name=\"referrer\" content=\"no-referrer\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><title>{}</title>"
      "<style>{}</style></head><body>\n{}{}{}{}{}\n<script>{}</script></body></html>\n",
      policy(), htmlText(title), style, headHtml(staged, title, page), body, sharedDataBegin, base64(archive),
      sharedDataEnd, script);
  return page;
}

}  // namespace kerf::workbench
