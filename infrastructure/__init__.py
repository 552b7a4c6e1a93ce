"""The article's lowest layer: settings, text, storage, ranking, embedders, language model, console."""
