// Objects of any resource as the API server says them, read in one place by those who list and
// watch and by those who look once more before they write.
#pragma once

#include "engine/ports/selector.h"
#include "engine/world/json.h"

#include <optional>
#include <string>
#include <string_view>

namespace trueup::world {

/// By which an object that a command made is known again: an annotation with the command's id.
inline constexpr std::string_view kMadeBy = "trueup.io/command";
/// Beside it: as which object, `namespace/name`, or `name` where it lies in no namespace. A copy of
/// the annotations, as some controllers make and people by hand, is another object.
inline constexpr std::string_view kMadeAs = "trueup.io/created-as";
std::string made_as(std::string_view name_space, std::string_view name);

/// The `metadata` of a new object, JSON, from what somebody wrote of it (empty: nothing) and from
/// who it is. An empty namespace: it lies in none. nullopt: what was written is no JSON object.
std::optional<std::string> metadata_of_new(std::string_view written, std::string_view name,
                                           std::string_view name_space, std::string_view made_by);

/// One object; a view into parsed JSON. What it does not say is empty.
class KubeView {
  public:
    explicit KubeView(const Node& object)
        : object_(object),
          metadata_(at(object, "metadata")),
          labels_(at(metadata_, "labels")),
          annotations_(at(metadata_, "annotations")) {}

    std::string_view kind() const { return text_or_empty(object_, "kind"); }
    std::string_view uid() const { return text_or_empty(metadata_, "uid"); }
    std::string_view name() const { return text_or_empty(metadata_, "name"); }
    std::string_view name_space() const { return text_or_empty(metadata_, "namespace"); }
    std::string_view resource_version() const {
        return text_or_empty(metadata_, "resourceVersion");
    }
    std::string_view created() const { return text_or_empty(metadata_, "creationTimestamp"); }
    std::string_view node() const { return text_or_empty(at(object_, "spec"), "nodeName"); }
    std::string_view phase() const { return text_or_empty(at(object_, "status"), "phase"); }

    std::optional<std::string_view> label(std::string_view key) const { return text(labels_, key); }
    /// Calls `visit(key, value)` for each label.
    template <typename Visitor>
    void each_label(Visitor&& visit) const {
        each_text(labels_, visit);
    }
    /// Likewise for each annotation.
    template <typename Visitor>
    void each_annotation(Visitor&& visit) const {
        each_text(annotations_, visit);
    }
    bool has_labels() const;
    bool selected_by(const ports::Selector& selector) const;

    /// Its deletion has begun.
    bool deleting() const { return text(metadata_, "deletionTimestamp").has_value(); }
    bool has_finalizers() const;
    /// Nothing is left that could keep it alive: it is being deleted, with no grace to wait out and
    /// no finalizer.
    bool ending() const;

    /// Somebody's hold of that key, as a label or as an annotation, holds (hold.h).
    bool held(std::string_view veto_label) const;

  private:
    template <typename Visitor>
    static void each_text(const Node& of, Visitor&& visit) {
        simdjson::dom::object texts;
        if (!of || of->get(texts) != simdjson::SUCCESS) return;
        for (const auto& [key, value] : texts) {
            std::string_view said;
            if (value.get(said) == simdjson::SUCCESS) visit(std::string_view(key), said);
        }
    }

    Node object_;
    Node metadata_;
    Node labels_;
    Node annotations_;
};

}  // namespace trueup::world
