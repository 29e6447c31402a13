// McpServer: the Model Context Protocol over lines of JSON-RPC. Every request is answered by itself, as revision 2026-07-28
// has it; the handshake of older revisions is answered too.
#pragma once

#include <filesystem>
#include <stop_token>

#include "app/cli/tool_table.h"

namespace kerf::cli {

struct McpOptions {
  std::vector<std::string> captures;         ///< listed as resources
  std::vector<std::filesystem::path> roots;  ///< folders whose files tools may open
  bool mayWrite = false;
  std::size_t mostBytes = 48'000;  ///< of one answer's data
  std::chrono::milliseconds timeout{300'000};
  std::string store;    ///< the user's; empty: where it usually is
  std::string scratch;  ///< takes what runs leave behind while nothing may be written
};

/// An answer that is an error of the protocol.
struct McpError {
  int code = 0;
  std::string message;
  Json data = nullptr;
};

class McpServer {
 public:
  McpServer(const CLI::App& root, McpOptions options);

  /// The answer to one line; null for a notification. `stop` ends the tool that runs.
  Json answer(const Json& message, std::stop_token stop);
  static Json parseError();

 private:
  using Method = std::expected<Json, McpError> (McpServer::*)(const Json& params, std::stop_token stop);
  struct MethodRow {
    std::string_view name;
    Method method;
    bool isCacheable;
  };
  static const MethodRow methods[];

  std::expected<Json, McpError> discover(const Json& params, std::stop_token stop);
  std::expected<Json, McpError> initialize(const Json& params, std::stop_token stop);
  std::expected<Json, McpError> ping(const Json& params, std::stop_token stop);
  std::expected<Json, McpError> listTools(const Json& params, std::stop_token stop);
  std::expected<Json, McpError> runTool(const Json& params, std::stop_token stop);
  std::expected<Json, McpError> listResources(const Json& params, std::stop_token stop);
  std::expected<Json, McpError> listTemplates(const Json& params, std::stop_token stop);
  std::expected<Json, McpError> readResource(const Json& params, std::stop_token stop);

  Result<void> allowed(const Tool& tool, const Json& arguments) const;
  Result<void> allowedPath(const std::filesystem::path& file) const;
  Result<void> allowedBelow(const std::filesystem::path& folder) const;
  Json toolResult(const Tool& tool, const Json& arguments, const Json& wanted, std::stop_token stop) const;
  Result<Json> asked(std::string_view tool, const Json& arguments, std::stop_token stop) const;
  std::string storeFor(const Tool& tool, const Json& arguments) const;

  McpOptions m_options;
  std::vector<Tool> m_tools;
};

}  // namespace kerf::cli
