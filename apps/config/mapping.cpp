// By what a source is read, as one number: where it looks, what it selects, by which key its
// objects are filed, and which fields are told, and how. Whoever publishes and whoever judges make
// it from their own configurations, so it may only change with what it is made of.
#include "apps/config/config.h"
#include "engine/base/hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trueup::config {

namespace {

/// Texts one after the other, so that no two lists of them look alike.
class Texts {
  public:
    void add(std::string_view text) { all_ += fmt::format("{}:{}", text.size(), text); }
    /// Their order says nothing.
    void add(std::vector<std::string> texts) {
        std::sort(texts.begin(), texts.end());
        all_ += fmt::format("{}*", texts.size());
        for (const std::string& each : texts) add(each);
    }
    std::uint64_t hash() const { return std::max<std::uint64_t>(hash64(all_), 1); }

  private:
    std::string all_;
};

std::vector<std::string> treated(const Fields& fields) {
    std::vector<std::string> texts;
    for (const auto& [name, field] : fields) {
        texts.push_back(fmt::format("{} {}", ports::name_of(field.treatment), name));
    }
    return texts;
}

std::string path_text(const policy::FieldPath& path) {
    std::string text = path.name + " =";
    for (const policy::FieldPath::Step& step : path.steps) {
        text += fmt::format(" {}:{} {}:{} {}:{}", step.name.size(), step.name, step.by.size(),
                            step.by, step.value.size(), step.value);
    }
    return text;
}

void add(const KubernetesSource& objects, const PolicyConfig& policy, const SourceConfig& source,
         Texts& texts) {
    texts.add(objects.resource.api_path);
    texts.add(objects.resource.plural);
    texts.add(objects.resource.name_space);
    texts.add(objects.selector);
    texts.add(key_label_of(policy, source));
    texts.add(objects.labels);
    texts.add(objects.veto_label);
    texts.add(treated(objects.fields));
    std::vector<std::string> paths;
    for (const policy::FieldPath& path : policy.paths_of(source.name)) {
        paths.push_back(path_text(path));
    }
    texts.add(std::move(paths));
}

void add(const PostgresSource& rows, Texts& texts) {
    texts.add(rows.table.schema);
    texts.add(rows.table.name);
    texts.add(rows.table.query);
    // Their order is that of an object's id.
    texts.add(fmt::format("{}", rows.primary_key.size()));
    for (const std::string& column : rows.primary_key) texts.add(column);
    texts.add(rows.publication);
    texts.add(rows.columns);
    texts.add(rows.veto_column);
    texts.add(treated(rows.fields));
}

}  // namespace

std::uint64_t mapping_of(const Config& config, const SourceConfig& source) {
    const PolicyConfig& policy = config.policies.front();
    const policy::Role* role = policy.role_of(source.name);
    Texts texts;
    texts.add(policy.name);
    texts.add(role == nullptr ? "no role" : policy::key_text(role->key));
    texts.add(role != nullptr && role->reference ? "reference" : "");
    if (const KubernetesSource* objects = source.kubernetes()) {
        add(*objects, policy, source, texts);
    } else {
        add(*source.postgres(), texts);
    }
    return texts.hash();
}

}  // namespace trueup::config
