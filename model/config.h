/* What a model is: sizes, places and rates. Ids in, no text, no files. The dimension key is in model/README.md. */
#ifndef MODEL_CONFIG_H
#define MODEL_CONFIG_H

typedef enum NormPlace { NORM_POST, NORM_PRE } NormPlace;
typedef enum Activation { ACTIVATION_RELU, ACTIVATION_GELU } Activation;

/* Which of source embedding, target embedding and output layer are one matrix. */
typedef enum TieEmbeddings {
    TIE_ALL,     /* all three (needs one vocabulary and equal widths) */
    TIE_DECODER, /* target embedding and output layer                 */
    TIE_NONE
} TieEmbeddings;

typedef struct DropoutRates {
    double embedding, residual, attention, activation; /* each in [0, 1) */
    double source_word, target_word;                   /* of whole rows of an embedding */
} DropoutRates;

typedef struct ModelConfig {
    int source_vocab, target_vocab;
    int encoder_width, decoder_width; /* D of each side */
    int encoder_layers, decoder_layers;
    int heads, d_k, d_v; /* H, K, Vd: per head, free of D/H and of each other */
    int ffn_dim;         /* F */
    NormPlace norm;
    Activation activation;
    TieEmbeddings tie;
    double qkv_gain; /* factor on the Xavier bound of q, k, v (fairseq: 1/sqrt 2) */
    DropoutRates dropout;
} ModelConfig;

#endif
