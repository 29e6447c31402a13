#include "ui/session/aot_stages.h"

#include <algorithm>

#include <QCoreApplication>

#include "ui/session/text.h"

namespace kerf::ui::inline session {

const std::vector<AotStageTitle>& aotStageTitles() {
  const auto translated = [](const char* title) { return QCoreApplication::translate("AotStages", title); };
  static const std::vector<AotStageTitle> titles{{"", translated("Captured")},
                                                 {"aten", translated("ATen")},
                                                 {"functional", translated("Functional")},
                                                 {"joint", translated("Joint")},
                                                 {"joint/inductor", translated("Joint (Inductor decompositions)")}};
  return titles;
}

int indexOfStage(const std::string& stage) {
  const auto& all = aotStageTitles();
  const auto found = std::ranges::find(all, stage, &AotStageTitle::stage);
  return found == all.end() ? -1 : int(found - all.begin());
}

QString titleOfStage(const std::string& stage) {
  const int index = indexOfStage(stage);
  return index < 0 ? text(stage) : aotStageTitles()[std::size_t(index)].title;
}

}  // namespace kerf::ui::inline session
