"""Images that AWS provides: the built-in algorithms and old framework containers, and their restrictions.

An image is one of them by its repository and by the account that owns it: a team may call an image of its own
``kmeans`` too. The accounts are those in SageMaker's documentation and its Python SDK for each region.
"""

from __future__ import annotations

from smspec.service.image_reference import ImageReference

# fmt: off
_ALGORITHM_ACCOUNTS = frozenset({
    "104374241257", "106583098589", "156387875391", "174872318107", "190319476487", "204372634319",
    "224300973850", "226302683700", "237065988967", "249704162688", "257386234256", "258307448986",
    "266724342769", "272398656194", "286214385809", "293181348795", "297031611018", "306986355934",
    "351501993468", "353608530281", "364406365360", "382416733822", "387376663083", "390948362332",
    "404615174143", "433757028032", "438346466558", "455444449433", "469771592824", "475088953585",
    "490574956308", "495149712605", "501404015308", "514117268639", "522234722520", "544295431143",
    "566113047672", "628508329040", "632365934929", "633353088612", "644912444149", "664544806723",
    "669576153137", "680994064768", "685385470294", "712309505854", "749696950732", "765400339828",
    "766337827248", "811284229777", "813361260812", "825641698319", "835164637446", "855470959533",
    "867004704886", "951798379941", "991648021394", "999678624901", "999911452149",
})
_FRAMEWORK_ACCOUNTS = frozenset({
    "048378556238", "057415533634", "246785580436", "313743910680", "364406365360", "422961961927",
    "423003514399", "462105765813", "520713654638", "724002660598", "744548109606",
})
_WITHOUT_CHECKPOINTS = frozenset({
    "blazingtext", "factorization-machines", "forecasting-deepar", "ipinsights", "kmeans", "knn", "lda",
    "linear-learner", "ntm", "object2vec", "pca", "randomcutforest", "seq2seq",
})
# fmt: on
_WITH_CHECKPOINTS = frozenset({"image-classification", "object-detection", "semantic-segmentation", "xgboost"})
# Since 0.90-1 XGBoost writes checkpoints; that version is in the repository sagemaker-xgboost.
_OLD_XGBOOST = ("xgboost", frozenset({None, "1", "latest", "0.72"}))
_NEEDS_THE_NETWORK = ("sagemaker-chainer", "sagemaker-rl-")


def is_built_in_algorithm(image: ImageReference) -> bool:
    """Return whether an image is a built-in algorithm of SageMaker, which runs no user script."""
    return image.account in _ALGORITHM_ACCOUNTS and image.repository in _WITHOUT_CHECKPOINTS | _WITH_CHECKPOINTS


def is_algorithm_without_checkpoints(image: ImageReference) -> bool:
    """Return whether an image is a built-in algorithm that starts from scratch after an interruption."""
    if image.account not in _ALGORITHM_ACCOUNTS:
        return False
    name, tags = _OLD_XGBOOST
    return image.repository in _WITHOUT_CHECKPOINTS or (image.repository == name and image.tag in tags)


def needs_the_network(image: ImageReference) -> bool:
    """Return whether an image is a container of SageMaker that does not run without a network."""
    return image.account in _FRAMEWORK_ACCOUNTS and image.repository.startswith(_NEEDS_THE_NETWORK)
