"""The types and functions that may be inside files of fitted models, and nothing else may.

Each of them only holds what it is given: none opens, writes or runs anything when a file makes it
with arguments of its own choosing. numpy.memmap, which overwrites any file, is no part of it.
tests/core/estimators/stored/test_allowed_types.py fits every model and prints what is missing.
"""

from __future__ import annotations


def _qualified_names(module: str, names: str) -> set[str]:
    return {f"{module}.{name}" for name in names.split()}


NUMBERS = _qualified_names(
    "numpy", "bool bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64"
)
_PLAIN = _qualified_names(
    "builtins", "bool dict float int list slice str tuple"
) | _qualified_names("numpy", "asarray dtype expand_dims ndarray random.PCG64 ravel")
_SKLEARN = {
    *_qualified_names("_loss._loss", "CyHalfBinomialLoss CyHalfMultinomialLoss CyHalfSquaredError"),
    *_qualified_names("_loss.link", "IdentityLink Interval LogitLink MultinomialLogit"),
    *_qualified_names("_loss.loss", "HalfBinomialLoss HalfMultinomialLoss HalfSquaredError"),
    *_qualified_names(
        "calibration", "CalibratedClassifierCV _CalibratedClassifier _SigmoidCalibration"
    ),
    *_qualified_names(
        "compose", "_column_transformer.ColumnTransformer _target.TransformedTargetRegressor"
    ),
    "decomposition._truncated_svd.TruncatedSVD",
    *_qualified_names("dummy", "DummyClassifier DummyRegressor"),
    *_qualified_names("ensemble._forest", "ExtraTreesClassifier ExtraTreesRegressor"),
    *_qualified_names("ensemble._forest", "RandomForestClassifier RandomForestRegressor"),
    *_qualified_names(
        "ensemble._hist_gradient_boosting", "binning._BinMapper predictor.TreePredictor"
    ),
    *_qualified_names(
        "ensemble._hist_gradient_boosting.gradient_boosting",
        "HistGradientBoostingClassifier HistGradientBoostingRegressor",
    ),
    *_qualified_names("ensemble._voting", "VotingClassifier VotingRegressor"),
    *_qualified_names("feature_extraction.text", "TfidfTransformer TfidfVectorizer"),
    *_qualified_names("", "impute._base.SimpleImputer kernel_approximation.Nystroem"),
    *_qualified_names(
        "linear_model", "_coordinate_descent.ElasticNet _logistic.LogisticRegression"
    ),
    *_qualified_names("linear_model", "_ridge.Ridge _stochastic_gradient.SGDClassifier"),
    *_qualified_names("metrics._dist_metrics", "EuclideanDistance64 ManhattanDistance64"),
    *_qualified_names("model_selection", "_classification_threshold.FixedThresholdClassifier"),
    *_qualified_names("model_selection", "_split.StratifiedKFold"),
    "naive_bayes.GaussianNB",
    *_qualified_names("neighbors", "_classification.KNeighborsClassifier _kd_tree.KDTree"),
    "neighbors._regression.KNeighborsRegressor",
    *_qualified_names("neural_network._multilayer_perceptron", "MLPClassifier MLPRegressor"),
    *_qualified_names("neural_network._stochastic_optimizers", "AdamOptimizer"),
    *_qualified_names("pipeline", "FeatureUnion Pipeline"),
    *_qualified_names("preprocessing._data", "MinMaxScaler StandardScaler"),
    *_qualified_names("preprocessing._discretization", "KBinsDiscretizer"),
    *_qualified_names("preprocessing._encoders", "OneHotEncoder OrdinalEncoder"),
    *_qualified_names("preprocessing._function_transformer", "FunctionTransformer"),
    *_qualified_names("preprocessing._label", "LabelBinarizer LabelEncoder"),
    *_qualified_names("svm._classes", "SVC SVR"),
    *_qualified_names(
        "tree", "_classes.DecisionTreeClassifier _classes.DecisionTreeRegressor _tree.Tree"
    ),
    *_qualified_names("tree._classes", "ExtraTreeClassifier ExtraTreeRegressor"),
    *_qualified_names("utils._bunch", "Bunch"),
}
_OTHERS = {
    "numpy.random._generator.Generator",
    "numpy.random.mtrand.RandomState",
    "pandas.to_datetime",
    "scipy.sparse._csr.csr_matrix",
}
_OURS = {
    "core.datasets.texts.tfidf.TextTfidf",
    *_qualified_names("core.datasets.texts.word_counts", "CommonCounts TextCounts"),
    *_qualified_names("core.estimators.averages.structured", "AveragedFolder AveragedTagger"),
    "core.estimators.averages.topics.AveragedTopics",
    "core.estimators.dlgm.dlgm_classifier.DlgmClassifier",
    "core.estimators.lda.online_lda.OnlineLda",
    *_qualified_names("core.estimators.structured", "crf_tagger.CrfTagger rna_folder.RnaFolder"),
    "core.estimators.tables.l1l2_classifier.L1L2Classifier",
    "core.estimators.vote7.classifier.Vote7Classifier",
    *_qualified_names("core.losses.crf.encoding", "EncodedColumn FeatureEncoding"),
}
# The same classes by the names that files of earlier versions have for them (core.old_names).
_OURS_BEFORE = {
    "core.estimators.dlgm.estimator.DlgmClassifier",
    "core.estimators.lda.estimator.OnlineLda",
    *_qualified_names("core.losses.crf.encoding", "Coded Encoding"),
}

# What exported skops files hold, and what the fitted best of a run folder may hold beside.
EXPORTED = frozenset(
    {*NUMBERS, *_PLAIN, *_OTHERS, *(f"sklearn.{name.lstrip('.')}" for name in _SKLEARN)}
)
KEPT = EXPORTED | _OURS | _OURS_BEFORE
