#include "ui/models/run_words.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <QCoreApplication>

#include "ui/session/documents.h"

namespace kerf::ui::inline models {
namespace {

struct BackendWords {
  std::string_view name;
  const char* title;
};
constexpr std::array backendWords{BackendWords{"llvm", "LLVM"}, BackendWords{"interp", "Interpreter"},
                                  BackendWords{"cuda", "CUDA"}};

}  // namespace

QString backendTitle(const std::string& name) {
  const auto found = std::ranges::find(backendWords, name, &BackendWords::name);
  return found == backendWords.end() ? text(name) : QCoreApplication::translate("backends", found->title);
}

QString settingText(const std::vector<std::string>& plants, const std::string& backend) {
  QString said;
  for (const auto& plant : plants) said += QCoreApplication::translate("backends", "  ·  planted: %1").arg(text(plant));
  if (!backend.empty() && backend != workbench::BackendsRequest::usual)
    said += QCoreApplication::translate("backends", "  ·  by %1").arg(backendTitle(backend));
  return said;
}

QString settingText(const QString& plant, const std::string& backend) {
  return settingText(plant.isEmpty() ? std::vector<std::string>() : std::vector{plant.toStdString()}, backend);
}

}  // namespace kerf::ui::inline models
